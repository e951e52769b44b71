# SPDX-License-Identifier: GPL-2.0-or-later
set -e
sample="$QA/samples/quickstart.pcap"

run() { # directory of logs, what to read, arguments
    mkdir -p "$WORK/$1"
    log="$WORK/$1" from=$2
    shift 2
    "$IDS" -c "$SRC/suricata.yaml" -S "$SRC/rules/sample.rules" -l "$log" -r "$from" \
        --set outputs.eve-log.types.stats.enabled=no "$@" 2>&1
}

run whole "$sample" --set 'outputs.eve-log.filename=%Y/day-%j/eve.json' > /dev/null
echo "directory made: $(find "$WORK/whole/$(date +%Y)" -name eve.json | wc -l) file"

# The first half of the packets comes two seconds before the other.
mkfifo "$WORK/pipe"
python3 - "$sample" "$WORK/pipe" <<'EOF' &
import sys, time
with open(sys.argv[1], "rb") as f, open(sys.argv[2], "wb", buffering=0) as out:
    data = f.read()
    at, records = 24, [data[:24]]
    while at < len(data):
        size = 16 + int.from_bytes(data[at + 8:at + 12], "little")
        records.append(data[at:at + size])
        at += size
    out.write(b"".join(records[:len(records) // 2]))
    time.sleep(2)
    out.write(b"".join(records[len(records) // 2:]))
EOF
run parts "$WORK/pipe" --set 'outputs.eve-log.filename=eve-%H%M%S.json' \
    --set outputs.eve-log.rotate-interval=1s > /dev/null
wait
set -- "$WORK"/parts/eve-*.json
[ $# -ge 2 ] && echo "several files: yes"
one=$(cat "$WORK/whole/"*/*/eve.json | grep -vc '"event_type":"stats"')
all=$(cat "$@" | grep -vc '"event_type":"stats"')
[ "$one" = "$all" ] && [ "$one" -gt 20 ] && echo "records: as many as in one file"
run bad "$sample" --set outputs.eve-log.rotate-interval=often | grep -q 'expected minute, hour, day' &&
    echo "refused: expected minute, hour, day"
