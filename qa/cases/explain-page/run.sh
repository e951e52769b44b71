# SPDX-License-Identifier: GPL-2.0-or-later
set -e
cd "$WORK"
PYTHONPATH="$SRC/qa" python3 "$CASE/captures.py" "$SRC"
python3 "$CASE/run.py" "$IDS" "$SRC" "$CASE"
