# SPDX-License-Identifier: GPL-2.0-or-later
"""compare.py NAME FOLDER: what came to the server, against eve.json of the same run."""
import json
import os
import sys
import time

name, directory = sys.argv[1:]
with open(os.path.join(directory, "eve.json"), encoding="utf-8") as f:
    wanted = f.read().splitlines()
with open(os.path.join(directory, "commands"), encoding="utf-8") as f:
    commands = [json.loads(line) for line in f]
# The server learns of the end of the connection a little later than we do.
ended = os.path.join(directory, "connections")
until = time.monotonic() + 20
while not os.path.exists(ended) and time.monotonic() < until:
    time.sleep(0.05)
with open(ended, encoding="utf-8") as f:
    most = [int(line.split()[1]) for line in f]
# Only what leaves the machine names it.
came = [json.loads(c[-1]) for c in commands]
named = all(record.pop("host", None) for record in came)
same = named and [json.loads(line) for line in wanted] == came and len(wanted) > 20
heads = {" ".join(c[:-1]) for c in commands}
once = "one" if max(most) == 1 else "several"
print(f"{name}: {'same' if same else 'other'} records by {heads}, {len(most)} connection, "
      f"{once} at once")
