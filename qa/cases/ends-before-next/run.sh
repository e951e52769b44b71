# SPDX-License-Identifier: GPL-2.0-or-later
set -e

ends() { # flows, run mode
    PYTHONPATH="$QA" python3 "$CASE/make.py" "$1" "$WORK/$1.pcap"
    mkdir -p "$WORK/$1-$2"
    "$IDS" -c "$SRC/suricata.yaml" -r "$WORK/$1.pcap" -l "$WORK/$1-$2" --runmode "$2" \
        --deterministic --set pcap-file.flow-timeouts-from=0 \
        --set threading.detect-thread-ratio=2 > /dev/null 2>&1
    before=$(sed '/"event_type":"dns"/,$d' "$WORK/$1-$2/eve.json" |
        grep -c '"event_type":"flow".*"dest_port":9999')
    echo "$1 flows, $2: $before before the query"
}

ends 64 single
for mode in single workers autofp; do
    ends 65 $mode
done
ends 129 single
ends 129 pipeline
