#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
plan() { "$IDS" -c "$SRC/suricata.yaml" -i lo --runmode workers --topology "pack:2 l3:2 l2:16 core:1 pu:2" "$@"; }
plan --plan=svg > "$WORK/one" || exit 1
plan --plan --svg > "$WORK/two" || exit 2
plan --svg --plan > "$WORK/three" || exit 3
cmp "$WORK/one" "$WORK/two" && cmp "$WORK/one" "$WORK/three" || exit 4
[ "$(grep -c '<title>L2 cache [0-9]*</title>' "$WORK/one")" = 64 ] || exit 5
[ "$(grep -c '>L3 cache [0-9]*<' "$WORK/one")" = 4 ] || exit 6
"$IDS" --svg -r "$SRC/qa/samples/quickstart.pcap" > "$WORK/said" 2>&1 && exit 7
grep -q -- '--svg goes with --plan' "$WORK/said" || exit 8
plan --plan=json --svg > "$WORK/said" 2>&1 && exit 9
grep -q 'two forms of one plan' "$WORK/said" || exit 10
exit 0
