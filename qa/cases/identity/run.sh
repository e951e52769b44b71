# SPDX-License-Identifier: GPL-2.0-or-later
set -e
info=$("$IDS" --build-info)
echo "version: $(echo "$info" | sed -n 's/^This is Suricata version \([0-9.]*\) .*/\1/p')"
echo "$info" | grep -q '^This is ids version ' && echo "ids: known"
features=" $(echo "$info" | sed -n 's/^Features: //p') "
for name in NSS JA3 JA4; do
    case $features in *" HAVE_$name "*) echo "$name: found" ;; esac
done
echo "directories: $(echo "$info" | sed -n 's/^ *--\([a-z]*\)  *\/.*/\1/p' | xargs)"
ln -s "$IDS" "$WORK/suricata"
[ "$("$WORK/suricata" --build-info)" = "$info" ] &&
    [ "$("$WORK/suricata" -V)" = "$("$IDS" -V)" ] && echo "by another name: the same"
