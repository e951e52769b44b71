# SPDX-License-Identifier: GPL-2.0-or-later
"""run.py IDS SRC CASE: runs the examples of doc/explain.md and compares what the page shows."""
import difflib
import os
import re
import subprocess
import sys

IDS, SRC, CASE = sys.argv[1:]
LOGIN = ["-S", f"{CASE}/local.rules", "-r", "login.pcap"]
EXAMPLES = [
    ["--explain", "2012887", "--nearest", "1", *LOGIN],
    ["--explain", "2012888", "--nearest", "1", *LOGIN],
    ["--explain", "2012889", "--nearest", "1", *LOGIN],
    ["--explain", "all", "--summary", *LOGIN],
    ["--explain-flow", "10.0.0.1:40000-10.0.0.2:9999", "-r", "overlap.pcap", "-S",
     f"{CASE}/letters.rules", "--set", "host-os-policy.linux.0=10.0.0.0/8"],
]
with open(os.path.join(SRC, "doc/explain.md"), encoding="utf-8") as page:
    shown = re.findall(r"^```text\n(.*?)^```$", page.read(), re.M | re.S)
same = 0
for wanted, arguments in zip(shown, EXAMPLES):
    found = subprocess.run([IDS, "-c", f"{SRC}/suricata.yaml", "-l", ".", *arguments], check=True,
                           stdout=subprocess.PIPE, text=True).stdout
    same += found == wanted
    sys.stdout.writelines(difflib.unified_diff(wanted.splitlines(True), found.splitlines(True),
                                               "doc/explain.md", " ".join(arguments[:2])))
print(f"{same} of {len(EXAMPLES)} examples are as shown")
