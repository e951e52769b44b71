# SPDX-License-Identifier: GPL-2.0-or-later
# decoder.vxlan.reserved-bits-check and detect.flowbits.max-per-signature, each with its values.
python3 - "$QA" "$CASE" "$WORK/in.pcap" <<'END'
import sys
sys.dont_write_bytecode = True
sys.path[:0] = sys.argv[1:3]
import packets
packets.capture().write(sys.argv[3])
END
run()
{
    name=$1
    shift
    mkdir -p "$WORK/$name"
    "$IDS" -c "$SRC/suricata.yaml" -S "$CASE/test.rules" -r "$WORK/in.pcap" -l "$WORK/$name" -k none \
        "$@" >"$WORK/$name/out" 2>&1
    echo "$name: $(grep -c '"event_type":"alert"' "$WORK/$name/eve.json") found," \
        "$(grep -c 'in one rule (detect.flowbits.max-per-signature)' "$WORK/$name/out") refused"
}
run default
run strict --set decoder.vxlan.reserved-bits-check=strict
run permissive --set decoder.vxlan.reserved-bits-check=permissive
run two --set detect.flowbits.max-per-signature=2
run one --set detect.flowbits.max-per-signature=1
