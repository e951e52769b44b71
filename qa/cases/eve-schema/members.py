# SPDX-License-Identifier: GPL-2.0-or-later
"""members.py LIST WORK SOURCES: compares the members of statistics with those in LIST."""
import json
import os
import re
import sys

# Suricata 8.0.6 registers these counters; its schema lacks them.
NOT_IN_SCHEMA = {"capture.dpdk.imissed", "capture.dpdk.ierrors", "capture.dpdk.no_mbufs",
                 "capture.packets", "capture.rx_errors", "capture.tx_errors"}
REGISTERED = re.compile(r'counter_register(?:_zero)?\(\s*"([^"]+)"')


def records(name):
    with open(os.path.join(sys.argv[2], name), encoding="utf-8") as f:
        return [json.loads(line) for line in f]


def members(value, path=""):
    """The dotted names of all members; the _delta of a counter is one of Suricata's, too."""
    for key, below in value.items():
        if isinstance(below, dict):
            yield from members(below, f"{path}{key}.")
        elif not (key.endswith("_delta") and key[:-len("_delta")] in value):
            yield path + key


def all_members(name):
    found = set()
    for record in records(name):
        if record["event_type"] == "stats":
            threads = record["stats"].pop("threads")
            found.update(members(record["stats"]))
            for one in threads.values():
                found.update(members(one))
    return found


def registered(top):
    """The names of counters that the sources register as Suricata's."""
    for directory, _, names in os.walk(top):
        for name in names:
            if name.endswith(".c") and os.path.basename(directory) != "tests":
                with open(os.path.join(directory, name), encoding="utf-8") as f:
                    yield from REGISTERED.findall(f.read())


def report(what, names, tail):
    print(f"{what}: {len(names)} {tail}", *sorted(names))


with open(sys.argv[1], encoding="utf-8") as reference:
    known = set(reference.read().split())
plain = all_members("as-it-is/eve.json")
asked = all_members("asked/eve.json")
report("as it is", plain - known, "members that 8.0.6 does not have")
stats = [e["stats"] for e in records("as-it-is/eve.json") if e["event_type"] == "stats"]
if all("pkts_delta" in s["decoder"] and s["threads"] for s in stats) and "tcp.sessions" in plain:
    print("totals, threads and deltas are there")
print("asked for:", *sorted({name.split(".")[0] for name in asked - known}))
report("sources", set(registered(sys.argv[3])) - known - NOT_IN_SCHEMA,
       "counters that 8.0.6 does not have, and that do not say so")
messages = [e["engine"] for e in records("as-it-is/messages.json")]
print("message:", *sorted(set().union(*messages)))
if any("broken.rules:1:" in m.get("error", "") for m in messages):
    print("place: known")
