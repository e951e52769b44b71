# SPDX-License-Identifier: GPL-2.0-or-later
set -e
cd "$WORK"
PYTHONPATH="$SRC/qa" python3 "$CASE/capture.py"
echo 'alert ip any any -> any any (fragbits:M; ttl:63; sid:1;)' > test.rules
for what in "1" "all --summary"; do
    "$IDS" -c "$SRC/suricata.yaml" -S test.rules -l . -k none -r in.pcap --explain $what
done
