# SPDX-License-Identifier: GPL-2.0-or-later
# The same bytes in every run mode.
set -e
PYTHONPATH="$QA" python3 "$CASE/make.py" "$WORK/input.pcap"
for mode in single workers-2 workers-3 autofp-2 autofp-3 pipeline-1 pipeline-3; do
    mkdir -p "$WORK/$mode"
    "$IDS" -c "$SRC/suricata.yaml" -S "$CASE/test.rules" -r "$WORK/input.pcap" -l "$WORK/$mode" \
        --deterministic --runmode "${mode%-*}" \
        --set threading.detect-thread-ratio="$(python3 -c "
import os
print(int('${mode#*-}'.replace('single', '1')) / os.cpu_count())")" > "$WORK/said" 2>&1 ||
        { cat "$WORK/said"; exit 1; }
    cmp "$WORK/single/eve.json" "$WORK/$mode/eve.json"
done
cp "$WORK/single/eve.json" "$OUT"
