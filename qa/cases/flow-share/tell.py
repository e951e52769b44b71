# SPDX-License-Identifier: GPL-2.0-or-later
"""tell.py WHOLE SHARE...: whether the records of the shares are those of the whole."""
import json
import sys
from pathlib import Path


def lines(folder):
    text = (Path(folder) / "eve.json").read_text(encoding="utf-8")
    return [line for line in text.splitlines() if json.loads(line)["event_type"] != "stats"]


whole = lines(sys.argv[1])
shares = [lines(folder) for folder in sys.argv[2:]]
alone = sum(len(set(share)) for share in shares) == len(set().union(*shares))
same = sorted(sum(shares, [])) == sorted(whole)
types = {json.loads(line)["event_type"] for line in whole}
assert {"alert", "dns", "flow", "http"} <= types, types
print(f"{sum(map(bool, shares))} shares with records, {'none' if alone else 'some'} in two, "
      f"together as one engine: {'yes' if same else 'no'}")
