# SPDX-License-Identifier: GPL-2.0-or-later
# Loads the rules in both compatibilities: how many, and what is refused.
for version in suricata-8 suricata-9; do
    "$IDS" -T -v -c "$SRC/suricata.yaml" -S "$CASE/test.rules" -l "$WORK" \
        --firewall-rules-exclusive="$CASE/firewall.rules" --set compatibility=$version \
        --set app-layer.protocols.pgsql.enabled=yes >"$WORK/test.txt" 2>&1
    echo "$version: status $?"
    grep -E 'Error|rules (successfully )?loaded' "$WORK/test.txt"
done
exit 0
