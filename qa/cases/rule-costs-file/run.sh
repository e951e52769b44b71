# SPDX-License-Identifier: GPL-2.0-or-later
set -e
cd "$WORK"
run() {
    "$IDS" -c "$SRC/suricata.yaml" -l "$WORK" -S "$CASE/../rule-costs/test.rules" "$@" 2>&1
}
for mode in single workers autofp pipeline; do
    for kind in csv json; do
        run -r "$SRC/qa/samples/quickstart.pcap" --runmode $mode --rule-profile costs.$kind > told
    done
    python3 "$CASE/check.py" $mode
done
other=0 nowhere=0
run -r "$SRC/qa/samples/quickstart.pcap" --rule-profile costs.txt || other=$?
echo "other endings: $other"
run -r "$SRC/qa/samples/quickstart.pcap" --rule-profile nowhere/costs.csv || nowhere=$?
echo "no such directory: $nowhere"
explain=0
run -r "$SRC/qa/samples/quickstart.pcap" --rule-profile costs.csv --explain 1 || explain=$?
echo "with --explain: $explain"
cp costs.csv before.csv
run -T --rule-profile costs.csv > told
cmp costs.csv before.csv && echo "after a test of the configuration: as before"
