# SPDX-License-Identifier: GPL-2.0-or-later
sample="$QA/samples/quickstart.pcap"

status() { # what, arguments
    what=$1
    shift
    "$IDS" -c "$SRC/suricata.yaml" -l "$WORK" "$@" > "$WORK/said" 2>&1
    echo "$what: $?"
}

echo "this is no capture, and long enough for a header" > "$WORK/text"
: > "$WORK/empty"
status "no capture" -S /dev/null -r "$WORK/text"
status "empty file" -S /dev/null -r "$WORK/empty"
status "capture" -S /dev/null -r "$sample"
status "no file of rules" -S "$WORK/none.rules" -r "$sample"
printf '%%YAML 1.1\n---\noutputs:\n  - pcap-log: {enabled: yes, filename: a.pcap, dir: %s}\n' \
    "$WORK/none" > "$WORK/pcap-log.yaml"
status "no directory for pcap-log" -S /dev/null -r "$sample" --include "$WORK/pcap-log.yaml"
status "unknown key, fatal" -S /dev/null -T --init-errors-fatal --set nobody.knows=it
status "unknown key" -S /dev/null -T --set nobody.knows=it
said=$("$IDS" -c "$SRC/suricata.yaml" -l "$WORK" -D -S "$WORK/none.rules" \
    --unix-socket="$WORK/socket" --pidfile "$WORK/pid" 2>&1)
echo "in the background: $?, $(echo "$said" | grep -q none.rules && echo said)"
said=$("$IDS" -c "$SRC/suricata.yaml" -l "$WORK" -D -S /dev/null -r "$sample" 2>&1)
echo "a file in the background: $?, $(echo "$said" | grep -q 'cannot run as daemon' && echo said)"
status "a file in the background, checked" -S /dev/null -T -D -r "$sample"
