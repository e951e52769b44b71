# SPDX-License-Identifier: GPL-2.0-or-later
set -e
PYTHONPATH="$QA" python3 "$CASE/make.py" "$WORK/in.pcap"

run() { # name, arguments
    name=$1
    shift
    mkdir -p "$WORK/$name"
    TZ=UTC "$IDS" -c "$SRC/suricata.yaml" -S "$CASE/test.rules" -r "$WORK/in.pcap" -l "$WORK/$name" \
        --deterministic --set pcap-file.flow-timeouts-from=0 "$@" > /dev/null 2> "$WORK/$name.log"
}

run whole --runmode single
for share in 1 2 3; do
    run share-$share --runmode single --set pcap-file.flow-share=$share/3
done
python3 "$CASE/tell.py" "$WORK/whole" "$WORK"/share-?
! run wrong --runmode single --set pcap-file.flow-share=4/3
grep -o "flow-share: want NUMBER/COUNT" "$WORK/wrong.log"
! run threads --runmode workers --set threading.detect-thread-ratio=2 \
    --set pcap-file.flow-share=1/3
grep -o "threads share a file: take single" "$WORK/threads.log"
