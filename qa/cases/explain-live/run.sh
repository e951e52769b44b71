# SPDX-License-Identifier: GPL-2.0-or-later
set -e
cd "$WORK"
for mode in single workers autofp pipeline; do
    python3 "$CASE/ask.py" "$IDS" "$SRC" $mode
done
