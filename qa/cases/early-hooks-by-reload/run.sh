# SPDX-License-Identifier: GPL-2.0-or-later
set -e
for mode in single workers autofp pipeline; do
    mkdir "$WORK/$mode"
    PYTHONPATH="$QA" python3 "$CASE/run.py" "$WORK/$mode" $mode > "$WORK/$mode.told"
    cmp "$WORK/single.told" "$WORK/$mode.told"
    echo "$mode: as single"
done
echo "gone again: $(tail -1 "$WORK/single.told") flows"
cp "$WORK/single/out/eve.json" "$OUT"
