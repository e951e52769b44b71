# SPDX-License-Identifier: GPL-2.0-or-later
# suricata-8.0.6.csv has keywords and features of its --list-keywords=csv. Left out of both lists are
# "No option", "sticky buffer" and "none", which Suricata sets for some buffers only.
"$IDS" --list-keywords=csv > "$WORK/keywords.csv"
python3 - "$CASE/suricata-8.0.6.csv" "$WORK/keywords.csv" <<'EOT'
import sys
OMITTED = {"", "No option", "sticky buffer", "none"}
reference = dict(line.rstrip("\n").split(";") for line in open(sys.argv[1]))
ours = {row[0]: row[3] for row in (line.split(";") for line in open(sys.argv[2]))}
compared = 0
for keyword, features in reference.items():
    if keyword not in ours:
        continue
    compared += 1
    wanted = set(features.split(",")) - OMITTED
    found = set(ours[keyword].split(":")) - OMITTED
    if wanted != found:
        print(f"{keyword} differs: {sorted(found)}, not {sorted(wanted)}")
print("compared:", compared)
EOT
