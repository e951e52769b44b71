#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
printf 'alert ip any any -> any any (msg:"a"; sid:1;)\nbroken\n' > "$WORK/test.rules"
run() {
    script -qec "$IDS -c $SRC/suricata.yaml -l $OUT -k none -S $WORK/test.rules -r $SRC/qa/samples/quickstart.pcap" \
        /dev/null < /dev/null | tr -d '\r' > "$WORK/$1"
}
run colour
NO_COLOR=1 run plain
grep -Eq '^[1-9][0-9]* packets, [0-9.]+ k?M?B in [0-9.]+ m?s \([0-9]+ packets/s\), 0 dropped by the kernel, [1-9][0-9]* alerts$' "$WORK/colour" || exit 1
grep -q "$(printf '^\033\\[31mError: .*\033\\[0m$')" "$WORK/colour" || exit 2
grep -q "$(printf '\033')" "$WORK/plain" && exit 3
$IDS -c $SRC/suricata.yaml -l $OUT -k none -S $WORK/test.rules -r $SRC/qa/samples/quickstart.pcap > "$WORK/file" 2>&1
grep -q "$(printf '\033')\|dropped by the kernel" "$WORK/file" && exit 4
grep -q '^CS: \|; CS: statistics' "$WORK/file" && exit 5
grep -Eq '^RX#01.*: receive decode$|^W#01.*: receive decode stream detect verdict output$' "$WORK/colour" || exit 6
grep -q '; CS: statistics' "$WORK/colour" || exit 7
# An explanation is in the plan, terminal or not.
$IDS -c $SRC/suricata.yaml --plan --runmode single -i lo > "$WORK/plan"
grep -Eq '^US +management: control socket ' "$WORK/plan" || exit 8
# slowly NAME COLUMNS PATTERN: a capture that comes through a pipe, which stays open until PATTERN
# was drawn.
slowly() {
    mkfifo "$WORK/$1.pipe"
    script -qfec "stty cols $2; exec $IDS -c $SRC/suricata.yaml -l $OUT -k none -S $WORK/test.rules \
        -r $WORK/$1.pipe" "$WORK/$1" < /dev/null > /dev/null &
    exec 3> "$WORK/$1.pipe"
    cat "$SRC/qa/samples/quickstart.pcap" >&3
    tries=0
    until grep -Eq "$3" "$WORK/$1" || [ $tries = 600 ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
    exec 3>&-
    wait $!
}
# The line is drawn again and again until its end.
slowly slow 80 ' packets/s, [0-9]* alerts'
tr '\r' '\n' < "$WORK/slow" | grep -Eq '^[0-9.]+ k?M?B, [0-9]+ packets/s, [0-9]+ alerts' || exit 9
# A message begins a line of its own.
tr '\r' '\n' < "$WORK/slow" | grep -q '^Notice: pcap: read 1 file' || exit 10
# On a narrow terminal the line never breaks: what is drawn between two \r has fewer columns.
slowly narrow 30 '[0-9.]+ k?M?B, [0-9]+ packets/s'
tr '\r' '\n' < "$WORK/narrow" | grep -Eq '^[0-9.]+ k?M?B, [0-9]+ packets/s *$' || exit 11
tr '\r' '\n' < "$WORK/narrow" | grep -E '^ +$|k?M?B, [0-9]+ packets/s' | grep -Eq '.{30}' && exit 12
exit 0
