# SPDX-License-Identifier: GPL-2.0-or-later
# Levels that this CPU lacks are left out.
differ=0
for level in scalar sse4 avx2 avx512 neon; do
    "$IDS" --cpu "$level" -V > /dev/null 2>&1 || continue
    IDS_CPU=$level "$IDS" --build-info | grep -q "IDS_CPU) *$level\$" || differ=$((differ + 1))
    mkdir "$WORK/$level"
    "$IDS" --cpu "$level" -c "$SRC/suricata.yaml" -S "$SRC/rules/sample.rules" -l "$WORK/$level" \
        -r "$SRC/qa/samples/quickstart.pcap" --runmode single --deterministic > /dev/null 2>&1 ||
        differ=$((differ + 1))
    grep -q '"event_type":"alert"' "$WORK/$level/eve.json" &&
        cmp "$WORK/scalar/eve.json" "$WORK/$level/eve.json" || differ=$((differ + 1))
done
IDS_CPU=scalar "$IDS" --build-info | grep -q "IDS_CPU) *scalar" && echo "scalar is in use"
echo "events differ: $differ"
IDS_CPU=mmx "$IDS" -V 2>&1
echo "unknown: $?"
