# SPDX-License-Identifier: GPL-2.0-or-later
# lib.sh - for the tests: hosts, servers, the engine. Sourced by them; IDS_BIN is the engine.
#
# No test depends on how fast the machine is: what must happen is waited for, a minute at most, and
# rings are large enough for all of a test's traffic where nothing may be lost. LIVE_STRICT=1, for
# a quiet machine, also looks at times: the engine ends within 2 s, and nothing stalls for 100 ms.
set -u
live_tag=lv$$
client=$live_tag-c middle=$live_tag-m server=$live_tag-s
server_ip=10.77.2.2
live_pids=
work=$(mktemp -d)
log=$work/log
top=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
rules_option="-S $work/test.rules"     # empty: those of the configuration
mkdir "$log" "$work/www"

skip() { echo "skipped: $*"; exit 77; }
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
failures=0

live_end() {
    local status=$?
    trap - EXIT INT TERM
    for pid in $live_pids; do kill -9 "$pid" 2> /dev/null; done
    wait 2> /dev/null
    for ns in $client $middle $server; do ip netns del "$ns" 2> /dev/null; done
    if [ "$status" != 0 ] && [ "$status" != 77 ] || [ "$failures" != 0 ]; then
        tail -20 "$work/out" 2> /dev/null | sed 's/^/    engine: /'
    fi
    rm -rf "$work"
    [ "$status" != 0 ] || [ "$failures" = 0 ] || status=1
    exit $status
}
trap live_end EXIT
trap 'exit 1' INT TERM

[ "$(id -u)" = 0 ] || skip "only root can make network namespaces"
for tool in ip python3 ethtool; do
    command -v $tool > /dev/null || skip "$tool is not installed"
done
[ -x "${IDS_BIN:?}" ] || skip "$IDS_BIN is not built"

on() { local ns=$1; shift; timeout 150 ip netns exec "$ns" "$@"; }

# hosts bridge|router [off]: off turns offloads off everywhere.
hosts() {
    local ns
    for ns in $client $middle $server; do
        ip netns add "$ns" 2> /dev/null || skip "the kernel makes no network namespaces"
        ip -n "$ns" link set lo up
        on "$ns" sysctl -qw net.ipv6.conf.default.disable_ipv6=1
    done
    ip link add c0 netns $client type veth peer name mc netns $middle || skip "no veth"
    ip link add s0 netns $server type veth peer name ms netns $middle
    for pair in "$client c0" "$middle mc" "$middle ms" "$server s0"; do
        ip -n ${pair% *} link set ${pair#* } up
        [ "${2-}" != off ] || offloads_off $pair
    done
    ip -n $server addr add $server_ip/24 dev s0
    if [ "$1" = bridge ]; then
        ip -n $client addr add 10.77.2.3/24 dev c0
        return
    fi
    ip -n $client addr add 10.77.1.2/24 dev c0
    ip -n $middle addr add 10.77.1.1/24 dev mc
    ip -n $middle addr add 10.77.2.1/24 dev ms
    ip -n $client route add default via 10.77.1.1
    ip -n $server route add default via 10.77.2.1
    on $middle sysctl -qw net.ipv4.ip_forward=1
}

# hub: the middle floods all between client, server and m0, whose other end m1 sees everything.
hub() {
    ip link add m0 netns $middle type veth peer name m1 netns $middle
    ip -n $middle link add hub type bridge ageing_time 0 ||
        skip "the kernel has no bridge"
    for port in mc ms m0; do
        ip -n $middle link set $port master hub
    done
    for port in m0 m1 hub; do
        ip -n $middle link set $port up
    done
}

offloads_off() {
    on "$1" ethtool -K "$2" tso off gso off gro off tx off rx off sg off > /dev/null 2>&1
}

# forward_to TARGET ARGUMENTS: what the middle forwards.
forward_to() {
    local tables
    for tables in iptables-legacy iptables; do
        command -v $tables > /dev/null &&
            on $middle $tables -A FORWARD -j "$@" 2> /dev/null && return
    done
    skip "the firewall has no $1 (iptables)"
}

# queue_forwarded ARGUMENTS of NFQUEUE
queue_forwarded() { forward_to NFQUEUE "$@"; }

# For a minute at most.
until_true() {
    local end=$((SECONDS + 60))
    while ! "$@" > /dev/null 2>&1; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.1
    done
}

# await WHAT COMMAND...: what must come true; else the command may say what is wrong.
await() {
    local what=$1
    shift
    until_true "$@" || { "$@"; fail "$what"; }
}

strict() { [ -n "${LIVE_STRICT-}" ]; }

listens() { on "$1" python3 -c "import socket; socket.create_connection(('$2', $3), 1)"; }

# serve PORT: the files of www, from the server.
serve() {
    ip netns exec $server python3 "$top/qa/live/traffic.py" serve "$work/www" "$1" \
        > /dev/null 2>&1 &
    live_pids="$live_pids $!"
    until_true listens $server 127.0.0.1 "$1" || fail "the web server does not start"
}

# config TEXT: behind what all tests have.
config() {
    cat > "$work/ids.yaml" <<EOT
%YAML 1.1
---
outputs:
  - eve-log:
      enabled: yes
      filename: eve.json
      types: [alert, http, drop, flow, {stats: {totals: yes, threads: no, engine: yes}}]
stats: {enabled: yes, interval: 1}
classification-file: /dev/null
reference-config-file: /dev/null
threshold-file: /dev/null
$1
EOT
    [[ $1 = *unix-command:* ]] || echo "unix-command: {enabled: no}" >> "$work/ids.yaml"
}

rules() { printf '%s\n' "$@" > "$work/test.rules"; }

# engine ARGUMENTS: in the middle; back when it captures.
engine() {
    : > "$work/out"                     # of an earlier one, which started, too
    ip netns exec $middle "$IDS_BIN" -c "$work/ids.yaml" $rules_option -l "$log" "$@" \
        > "$work/out" 2>&1 &
    engine_pid=$!
    live_pids="$live_pids $engine_pid"
    until_true grep -q "Engine started" "$work/out" || { fail "the engine does not start"; exit 1; }
}

# tell COMMAND...: by the control socket $work/socket.
tell() { timeout 100 "$top/scripts/idsc" -s "$work/socket" "$@" 2> "$work/told"; }

said() { grep -q "$1" "$work/out"; }

# stop_engine: must end by itself, and well.
stop_engine() {
    local start=$(date +%s%N) status ms
    kill -TERM "$engine_pid"
    wait "$engine_pid"
    status=$?
    ms=$((($(date +%s%N) - start) / 1000000))
    [ $status = 0 ] || fail "the engine ended with status $status"
    ! strict || [ $ms -lt 2000 ] || fail "the engine took $ms ms to stop"
}

# fetch PATH [PORT [SECONDS]]: the body, from the client.
fetch() {
    on $client python3 -c "
import sys, urllib.request
sys.stdout.buffer.write(urllib.request.urlopen('http://$server_ip:${2-80}/$1',
                                               timeout=${3-30}).read())"
}

# no_answer PATH [PORT]: to be expected, so it is not waited for as long.
no_answer() { ! fetch "$1" "${2-80}" 2 > /dev/null 2>&1; }

# requests NUMBER CLIENTS: as many in all, each its own connection and URL /index.html?n=...
requests() {
    on $client python3 -c "
import threading, urllib.request
def work(k):
    for i in range(k, $1, $2):
        urllib.request.urlopen('http://$server_ip/index.html?n=%d' % i, timeout=60).read()
all = [threading.Thread(target=work, args=(k,)) for k in range($2)]
[t.start() for t in all]; [t.join() for t in all]"
}

# urls_seen NUMBER: each of them in EVE exactly once?
urls_seen() {
    python3 - "$log" "$1" <<'EOT'
import collections, glob, json, re, sys
seen = collections.Counter()
for name in glob.glob(sys.argv[1] + "/eve.json*"):
    for line in open(name):
        e = json.loads(line)
        m = e["event_type"] == "http" and re.search(r"\?n=(\d+)$", e["http"].get("url", ""))
        if m:
            seen[int(m.group(1))] += 1
lost = [n for n in range(int(sys.argv[2])) if n not in seen]
twice = [n for n in seen if seen[n] > 1]
if lost or twice:
    sys.exit(f"{len(lost)} of {sys.argv[2]} requests are not in EVE, {len(twice)} more than once")
EOT
}

# logged WORDS NUMBER: so many lines of EVE have them.
logged() { [ "$(grep -c "$1" "$log/eve.json")" = "$2" ]; }

# all_seen WHAT NUMBER [WORDS]: each request is in EVE once, and so many lines have the words. Unless
# threads that got no CPU made others drop packets, and these have been counted; but with
# LIVE_STRICT they must not.
all_seen() {
    until_true seen_or_dropped $2
    if ! strict && dropped_between_threads; then
        echo "$1: $(stat engine.dropped) packets dropped between threads: the machine is busy"
        return
    fi
    urls_seen $2 || fail "$1: requests"
    [ -z "${3-}" ] || await "$1: $3" logged "$3" $2
}
seen_or_dropped() { urls_seen "$1" || { ! strict && dropped_between_threads; }; }
dropped_between_threads() { [ "$(stat engine.dropped)" -gt 0 ]; }

# stat KEY.KEY: of the last statistics.
stat() {
    python3 - "$log" "$1" <<'EOT'
import functools, json, sys
last = {}
for line in open(sys.argv[1] + "/eve.json"):
    if '"event_type":"stats"' in line:
        last = json.loads(line)["stats"]
print(functools.reduce(lambda at, key: at.get(key, {}), sys.argv[2].split("."), last) or 0)
EOT
}

expect() { [ "$2" = "$3" ] || fail "$1: got \"$2\", wanted \"$3\""; }
