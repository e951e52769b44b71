# SPDX-License-Identifier: GPL-2.0-or-later
set -e
sample="$QA/samples/quickstart.pcap"

run() { # directory of logs, arguments
    log="$WORK/$1"
    shift
    mkdir -p "$log"
    "$IDS" -c "$SRC/suricata.yaml" -S /dev/null -l "$log" "$@" 2>&1
}

run mask -r "$sample" --set umask=077 > /dev/null
echo "rights of eve.json: $(stat -c %a "$WORK/mask/eve.json")"
run bad -r "$sample" --set umask=9 | grep -q 'umask: expected up to three octal digits' &&
    echo "umask refused"

# In the background, where captures come by command.
mkdir "$WORK/elsewhere"
run daemon -D --unix-socket="$WORK/socket" --set pid-file="$WORK/pid" \
    --set daemon-directory="$WORK/elsewhere" --set coredump.max-dump=4096
pid=$(cat "$WORK/pid")
[ "$(readlink "/proc/$pid/cwd")" = "$WORK/elsewhere" ] && echo "directory: as configured"
[ "$(tr '\0' '\n' < "/proc/$pid/cmdline" | grep -cx -- "--unix-socket=$WORK/socket")" = 1 ] &&
    echo "number in the file: its own"
echo "core files: $(awk '/^Max core file size/ { print $5 }' "/proc/$pid/limits")"
kill -ABRT "$pid"
for i in $(seq 100); do
    kill -0 "$pid" 2> /dev/null || break
    sleep 0.1
done
grep -q 'ended by SIGABRT, stack trace' "$WORK/daemon/suricata.log" &&
    [ "$(grep -c 'ids.*(.*) *\[0x\|\[0x' "$WORK/daemon/suricata.log")" -ge 1 ] &&
    echo "crash: SIGABRT and calls in the log"

run format -T --set logging.default-log-format='%D|%S|%M' \
    --set logging.default-output-filter='successfully loaded' > "$WORK/messages"
echo "message: $(cat "$WORK/messages")"
run filter -T --set logging.default-output-filter='(x' | grep -q 'not a regular expression' &&
    echo "expression refused"
