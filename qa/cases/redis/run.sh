# SPDX-License-Identifier: GPL-2.0-or-later
set -e
. "$CASE/redis.sh"

run() { # name, keys
    directory=$WORK/$1
    start_server "$directory"
    place="server: $directory/socket"
    [ -z "${tcp-}" ] || place="server: localhost, port: $(cat "$directory/port")"
    configure "$directory" "$place, $2"
    "$IDS" -c "$directory/ids.yaml" -S /dev/null -r "$QA/samples/quickstart.pcap" -l "$directory" \
        --runmode=single > "$directory/said" 2>&1 || cat "$directory/said"
    grep -E '^(Error|Warning)' "$directory/said" || true
    python3 "$CASE/compare.py" "$1" "$directory"
    kill $server
    cat "$directory/server.err"
}

run plain "async: no"
run lpush "mode: lpush, key: a"
run rpush "mode: rpush, key: a b"
run publish "mode: publish, key: news"
run channel "mode: channel"
run stream "mode: stream, key: s"
run exact "mode: xadd, stream-maxlen: 7, stream-trim-exact: yes"
run endless "mode: xadd, stream-maxlen: 0"
run batch "pipelining: {enabled: yes, batch-size: 8}"
run async "async: yes, pipelining: {enabled: yes}"
tcp=0
run tcp "mode: list"
configure "$WORK" "mode: heap, port: 0"
"$IDS" -T -c "$WORK/ids.yaml" -S /dev/null -l "$OUT" 2>&1 | grep -o 'ids.yaml:[0-9:]* .*'
