# SPDX-License-Identifier: GPL-2.0-or-later
"""tell.py NAME EVE: what came of a run, in one line."""
import json
import sys

with open(sys.argv[2], encoding="utf-8") as lines:
    records = [json.loads(line) for line in lines]
alerts = sorted(r["alert"]["signature_id"] for r in records if r["event_type"] == "alert")
flows = sum(r["event_type"] == "flow" for r in records)
ends = {r["timestamp"][:19] for r in records if r["event_type"] == "flow"}
numbers = sorted({r["pcap_cnt"] for r in records if r["event_type"] == "alert"})
print(sys.argv[1], "alerts", alerts, "of packets", numbers, "flows", flows, "ending at",
      " ".join(sorted(ends)))
