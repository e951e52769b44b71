# SPDX-License-Identifier: GPL-2.0-or-later
# The same rules and packets in both compatibilities: what loads, and what alerts.
run()
{
    mkdir -p "$WORK/$1"
    python3 - "$QA" "$CASE" "$WORK/in.pcap" <<'END'
import sys
sys.dont_write_bytecode = True
sys.path[:0] = sys.argv[1:3]
import packets
packets.capture().write(sys.argv[3])
END
    "$IDS" -c "$SRC/suricata.yaml" -S "$CASE/test.rules" -r "$WORK/in.pcap" -l "$WORK/$1" \
        --set compatibility="$1" --set app-layer.protocols.llmnr.enabled="$2" >"$WORK/$1/out" 2>&1
    echo "$1: $(grep -c '"event_type":"alert"' "$WORK/$1/eve.json") alerts," \
        "$(grep -c 'in Suricata 9\|at most 8' "$WORK/$1/out") rules refused"
}
run suricata-8 no
run suricata-9 yes
"$IDS" -T -c "$SRC/suricata.yaml" --set compatibility=suricata-7 -l "$WORK" >"$WORK/test.txt" 2>&1 &&
    echo taken
grep -c 'compatibility: expected one of' "$WORK/test.txt"
