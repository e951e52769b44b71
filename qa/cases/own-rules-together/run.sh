# SPDX-License-Identifier: GPL-2.0-or-later
on=
for protocol in modbus dnp3 enip pgsql; do
    on="$on --set app-layer.protocols.$protocol.enabled=yes"
done
cat "$SRC"/rules/*.rules > "$WORK/all.rules"
"$IDS" -T --init-errors-fatal -c "$SRC/suricata.yaml" -S "$WORK/all.rules" -l "$OUT" \
    --set classification-file="$SRC/rules/classification.config" \
    --set reference-config-file="$SRC/rules/reference.config" $on > "$WORK/said" 2>&1
status=$?
grep -E '^(Error|Warning)' "$WORK/said"
echo "twice: $(grep -ciE 'duplicate|already' "$WORK/said")"
exit $status
