# SPDX-License-Identifier: GPL-2.0-or-later
printf '%%YAML 1.1\n---\nstats: {enabled: no}\n' > "$WORK/ids.yaml"

check() { "$IDS" -T -c "$WORK/ids.yaml" -S /dev/null -l "$WORK" "$@" 2>&1; }

[ -z "$(SC_LOG_LEVEL=Error check -v)" ] && echo "level Error: nothing"
SC_LOG_LEVEL=Notice check -vvv > "$WORK/said"
grep -q Notice "$WORK/said" && ! grep -q '^Info:\|^Perf:\|^Config:' "$WORK/said" &&
    echo "level Notice: notices"
SC_LOG_FORMAT='<%d>=' check | grep -q '^<Notice>=Configuration' && echo "format: as given"
[ "$(SC_LOG_OP_FILTER='successfully loaded' check | wc -l)" = 1 ] && echo "filter: one line"
said=$(SC_LOG_OP_IFACE=file SC_LOG_FILE="$WORK/own.log" check)
[ -z "$said" ] && grep -q 'successfully loaded' "$WORK/own.log" && echo "file: there"
