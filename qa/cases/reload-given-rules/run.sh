# SPDX-License-Identifier: GPL-2.0-or-later
set -e
rules="$WORK/given.rules"

tell() { "$SRC/scripts/idsc" -s "$WORK/socket" "$@"; }

start() { # settings
    "$IDS" -c "$SRC/suricata.yaml" -S "$rules" -l "$WORK" --unix-socket="$WORK/socket" "$@" \
        > "$WORK/messages" 2>&1 &
    pid=$!
    for i in $(seq 600); do
        tell uptime > /dev/null 2>&1 && return
        sleep 0.1
    done
}

stop() {
    tell shutdown > /dev/null
    wait $pid
}

echo 'alert ip any any -> any any (msg:"one"; sid:1;)' > "$rules"
start
if ! tell ruleset-reload-rules 2> "$WORK/refused"; then
    grep -q "not possible if -s or -S" "$WORK/refused" && echo "as it is: refused"
fi
stop
start --set unix-command.reload-given-rules=yes
echo 'alert ip any any -> any any (msg:"two"; sid:2;)' >> "$rules"
echo "as set: $(tell ruleset-reload-rules)"
echo "rules: $(tell ruleset-stats | tr -d ' ,' | sed -n 's/"rules_loaded"://p')"
stop
