# SPDX-License-Identifier: GPL-2.0-or-later
set -e
PYTHONPATH="$QA" python3 "$CASE/make.py" "$WORK/pcaps"

run() { # name, arguments
    name=$1
    shift
    mkdir -p "$WORK/$name"
    "$IDS" -c "$SRC/suricata.yaml" -S "$CASE/test.rules" -r "$WORK/pcaps" -l "$WORK/$name" \
        --no-random --set threading.detect-thread-ratio=2 "$@" > /dev/null 2>&1
    python3 "$CASE/tell.py" "$name" "$WORK/$name/eve.json"
}

for mode in single workers autofp pipeline; do
    run "timeline-$mode" --runmode $mode
done
for mode in single workers; do
    run "files-$mode" --runmode $mode --set pcap-file.directory=files
done
if "$IDS" -c "$SRC/suricata.yaml" -r "$WORK/pcaps" -l "$OUT" --runmode autofp \
    --set pcap-file.directory=files 2> "$WORK/refused"; then
    exit 1
fi
grep -o "in run mode autofp threads share a file" "$WORK/refused"
