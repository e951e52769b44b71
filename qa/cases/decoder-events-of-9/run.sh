# SPDX-License-Identifier: GPL-2.0-or-later
# Alerts on the events, and what anomaly records and statistics have of them, in both compatibilities.
python3 - "$QA" "$CASE" "$WORK/in.pcap" <<'END'
import sys
sys.dont_write_bytecode = True
sys.path[:0] = sys.argv[1:3]
import packets
packets.capture().write(sys.argv[3])
END
events='decoder\.(event\.)?(etag|igmp|ipv4\.unknown_protocol|sctp\.(chunk|init|data|too_many))'
for version in suricata-8 suricata-9; do
    mkdir -p "$WORK/$version"
    "$IDS" -c "$CASE/suricata.yaml" -S "$CASE/test.rules" -r "$WORK/in.pcap" -l "$WORK/$version" \
        -k none --set compatibility=$version >"$WORK/$version/out" 2>&1
    echo "$version: status $?"
    log=$WORK/$version/eve.json
    echo "$version: $(grep '"event_type":"alert"' "$log" | grep -o '"signature_id":[0-9]*' | sort -u |
        wc -l) rules alert," \
        "$(grep '"event_type":"anomaly"' "$log" | grep -cE "$events") records of 9's events"
    echo "$version: $(grep -c 'unknown_protocol' "$WORK/$version/stats.log") counters"
done
exit 0
