# SPDX-License-Identifier: GPL-2.0-or-later
"""check.py MODE: costs.csv and costs.json have the rules that were checked, with figures that fit."""
import csv
import json
import sys

with open("costs.csv", encoding="utf-8", newline="") as file:
    rows = list(csv.DictReader(file))
table = {int(row["sid"]): row for row in rows if row["kind"] == "rule"}
with open("costs.json", encoding="utf-8") as file:
    record = json.load(file)
costs = {row["signature_id"]: row for row in record["costs"]}
# Rule 3 was never asked. Rule 2 never matches, so a run that times none of its checks has no row.
for found in (table, costs):
    assert 1 in found and set(found) <= {1, 2}, found
assert record["rules"] == len(costs) and record["ns"] == sum(r["ns"] for r in costs.values())
assert [r["ns"] for r in record["costs"]] == sorted((r["ns"] for r in costs.values()), reverse=True)
assert table[1]["msg"] == "each request" == costs[1]["signature"] and table[1]["rev"] == "3"
for row in (*table.values(), *costs.values()):
    checks, matches, timed = int(row["checks"]), int(row["matches"]), int(row["timed"])
    assert checks >= matches and checks >= timed and timed <= 4, row
    assert (int(row["ns"]) > 0) == (timed > 0), row
    assert (int(row["ns_max"]) + 1) * checks >= int(row["ns"]), row
matches = {int(table[1]["matches"]), costs[1]["matches"]}
assert matches == {4}, matches
# The first packet of a thread is timed. It opens a flow, so a group at least has been timed.
for kind in ("group", "buffer", "keyword"):
    here = {row["msg"]: row for row in rows if row["kind"] == kind}
    for name, row in here.items():
        assert int(row["checks"]) >= int(row["timed"]) > 0 and row["sid"] == "", row
        assert int(row["ns_max"]) * int(row["checks"]) + int(row["checks"]) >= int(row["ns"]), row
    times = [row["ns"] for row in record[kind + "s"]]
    assert times == sorted(times, reverse=True), times
    assert {"name", "checks", "ns", "ns_avg", "ns_max", "percent", "timed"} == \
        set().union(*record[kind + "s"]) or not record[kind + "s"], record[kind + "s"]
    assert here or kind != "group", rows
print(f"{sys.argv[1]}: csv and json, 4 matches")
