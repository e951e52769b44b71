# SPDX-License-Identifier: GPL-2.0-or-later
"$IDS" --list-app-layer-proto | grep -q "^http" && echo "protocols: 0"
"$IDS" --firewall --help > /dev/null && echo "whole name before longer ones: $?"
"$IDS" -c "$SRC/suricata.yaml" -S /dev/null -l "$WORK" -T --run=single > /dev/null 2>&1
echo "with a value: $?"
said=$("$IDS" --list-app 2>&1)
echo "several: $?"
echo "$said" | grep -q '"--list-app" may be --list-app-layer-' && echo "--list-app is not clear"
