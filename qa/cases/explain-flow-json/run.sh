#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The records of a flow, as a program reads them.
set -e
python3 -c "
import sys
sys.path[:0] = ['$QA', '$CASE']
import input
input.capture().write('$WORK/in.pcap')"
$IDS -c "$SRC/suricata.yaml" -l "$OUT" -S "$CASE/test.rules" -r "$WORK/in.pcap" --json \
    --explain-flow 10.0.0.1:40000-10.0.0.2:80 > "$WORK/life.json"
python3 - "$WORK/life.json" <<'PY'
import json
import sys

lines = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
life = lines[0]
of = {}
for event in life["events"]:
    of.setdefault(event["kind"], []).append(event)
print("flow", life["flow"], life["app_proto"], life["end"], life["transactions"], life["files"],
      life["alerts"])
first = of["candidate"][0]
print("candidate", first["protocol"], first["answer"])
print("transaction", *[(e["tx_id"], e["progress"]) for e in of["transaction"]
                       if e.get("of") == "server"][-1])
print("file", of["file"][-1]["state"], of["file"][-1]["size"], len(of["file"][-1]["sha256"]) == 64)
print("alert", of["alert"][0]["sid"], of["alert"][0]["action"], of["alert"][0]["tx_id"])
rule = [r for r in life["rules"] if r["sid"] == 1][0]
print("rules", rule["sid"], rule["asked"], rule["matched"], rule["alerts"])
print("as many lines", len(lines))
print("as many packets", life["packets_to_server"] + life["packets_to_client"] ==
      sum("packet" in e for e in of["packet"]))
PY
