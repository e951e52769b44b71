# SPDX-License-Identifier: GPL-2.0-or-later
set -e
PYTHONPATH="$QA" python3 "$CASE/run.py" "$WORK"
