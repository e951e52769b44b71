# SPDX-License-Identifier: GPL-2.0-or-later
echo "this is no capture, though it is named so" > "$WORK/no.pcap"
for mode in single workers autofp; do
    if "$IDS" -c "$SRC/suricata.yaml" -l "$WORK" -r "$WORK/no.pcap" --runmode $mode > /dev/null 2>&1; then
        echo "$mode: status 0"
        exit 1
    fi
done
