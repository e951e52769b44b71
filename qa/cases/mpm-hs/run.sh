# SPDX-License-Identifier: GPL-2.0-or-later
# `differ` counts what is not as it should be.
differ=0
run() {
    mkdir "$WORK/$1"
    "$IDS" --set "mpm-algo=$1" --set "spm-algo=$1" --set detect.sgh-mpm-caching=no \
        -c "$SRC/suricata.yaml" -S "$SRC/rules/sample.rules" -l "$WORK/$1" \
        -r "$SRC/qa/samples/quickstart.pcap" --runmode single --deterministic \
        > "$WORK/$1.out" 2>&1
}
run auto && grep -q '"event_type":"alert"' "$WORK/auto/eve.json" || differ=$((differ + 1))
if "$IDS" --build-info | grep -q '^ *Hyperscan *yes'; then
    run hs && cmp "$WORK/auto/eve.json" "$WORK/hs/eve.json" || differ=$((differ + 1))
    "$IDS" --build-info | grep -qE '^  libhs +[0-9]+\.[0-9]+\.[0-9]+' || differ=$((differ + 1))
else
    run hs && differ=$((differ + 1))
    for key in mpm-algo spm-algo; do
        grep -q "$key: hs needs libhs .*this build does not have" "$WORK/hs.out" ||
            differ=$((differ + 1))
    done
fi
echo "events differ: $differ"
