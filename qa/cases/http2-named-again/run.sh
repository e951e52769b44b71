#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# 90 KB of traffic that stood for 500 MB of headers: the log stays near what was sent.
set -e
python3 -c "import runpy
runpy.run_path('$CASE/input.py')['capture']().write('$WORK/input.pcap')"
"$IDS" -c "$SRC/suricata.yaml" -S "$CASE/test.rules" -l "$OUT" -k none -r "$WORK/input.pcap"
test "$(wc -c < "$OUT/eve.json")" -lt 6000000
