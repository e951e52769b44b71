# SPDX-License-Identifier: GPL-2.0-or-later
tr -d '\\' < "$SRC/doc/ids.1.in" > "$WORK/page"
"$IDS" --help | grep -oE '^  (-[A-Za-z], )?--?[A-Za-z-]+' | tr -d ',' | tr ' ' '\n' | grep . |
    sort -u > "$WORK/options"
[ "$(wc -l < "$WORK/options")" -gt 40 ] || { echo "--help lists few options"; exit 1; }
status=0
while read -r option; do
    grep -qE -- "(^|[ .])$option( |\$|\[)" "$WORK/page" || { echo "not there: $option"; status=1; }
done < "$WORK/options"
exit $status
