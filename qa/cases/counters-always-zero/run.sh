# SPDX-License-Identifier: GPL-2.0-or-later
# The policy adds the counter of the defragmenter.
run() {
    "$IDS" -c "$SRC/suricata.yaml" -S /dev/null -l "$WORK" --set defrag.memcap-policy=drop-packet "$@" 2>&1
}

run -T -v | grep 'always 0' > "$WORK/said"
names=$(sed 's/.*why: //; s/,//g' "$WORK/said")
[ "$(wc -l < "$WORK/said")" = 1 ] && [ "$(echo $names | wc -w)" -ge 18 ] && echo "one line, 18 or more: yes"
run -T | grep -q 'always 0' || echo "without -v: nothing"

run -r "$QA/samples/quickstart.pcap" --simulate-ips --set outputs.5.stats.null-values=yes > "$WORK/run"
missing= counted=
for name in $names; do
    grep -q "\`$name\`" "$SRC/doc/from-suricata.md" || missing="$missing $name"
    grep -q "^$name .*| 0$" "$WORK/stats.log" || counted="$counted $name"
done
echo "in the page: ${missing:-all}"
echo "in stats.log: ${counted:-all, 0}"
