# SPDX-License-Identifier: GPL-2.0-or-later
set -e
PYTHONPATH="$QA" python3 "$CASE/make.py" "$WORK/input.pcap"
sed "s|{src}|$SRC|" "$CASE/own.yaml" > "$WORK/own.yaml"
"$IDS" -c "$WORK/own.yaml" -S "$CASE/test.rules" -r "$WORK/input.pcap" -l "$OUT" \
    --runmode one-output --set max-pending-packets=1
