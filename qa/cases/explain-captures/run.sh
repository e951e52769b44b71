# SPDX-License-Identifier: GPL-2.0-or-later
set -e
cd "$WORK"
python3 "$CASE/ask.py" "$IDS" "$SRC"
