#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Compares what the report says of each overlap with the rule that has fired.
set -e
python3 -c "
import sys
sys.path[:0] = ['$QA', '$CASE']
import input
input.capture().write('$WORK/in.pcap')"
for policy in linux solaris vista; do
    agree=0
    for port in 40000 40001 40002 40003 40004 40005 40006 40007 40008; do
        "$IDS" -c "$SRC/suricata.yaml" -l "$OUT" -S "$CASE/test.rules" -r "$WORK/in.pcap" \
            --set "host-os-policy.$policy.0=10.0.0.0/8" \
            --set host-os-policy.windows.0=192.0.2.0/24 \
            --explain-flow "10.0.0.1:$port-10.0.0.2:9999" > "$WORK/life"
        said=$(sed -n "s/.*other bytes; policy $policy takes the \(.*\) ones/\1/p" "$WORK/life")
        found=$(sed -n 's/ *alert .*rule [12] "\(.*\)" (alert).*/\1/p' "$WORK/life")
        if [ -n "$said" ] && [ "$said" = "$found" ]; then
            agree=$((agree + 1))
        else
            echo "$policy, port $port: said \"$said\", found \"$found\""
        fi
    done
    echo "$policy: $agree agree"
done
