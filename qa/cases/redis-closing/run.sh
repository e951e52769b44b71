# SPDX-License-Identifier: GPL-2.0-or-later
# The server closes the first connection after three records. A capture is read, then after more
# than a second another: by then there is a second connection.
. "$QA/cases/redis/redis.sh"
sample=$QA/samples/quickstart.pcap

tell() { # name, directory: what was written, received and dropped
    written=$(wc -l < "$2/eve.json")
    received=$(wc -l < "$2/commands")
    dropped=$(sed -n 's/.*redis at .*: \([0-9]*\) records were dropped.*/\1/p' "$2/said")
    echo "$1: of $written written $((written - received - ${dropped:-0})) not accounted for"
    [ "$received" -gt 3 ] && echo "$1: received again" || echo "$1: received $received"
    grep -o "records are dropped until it is back" "$2/said" | sort | uniq -c
}

once() { # name, keys, close-after
    directory=$WORK/$1
    start_server "$directory" $3
    [ -n "$3" ] || kill $server
    configure "$directory" "server: $directory/socket, $2"
    "$IDS" -c "$directory/ids.yaml" -S /dev/null -r $sample -l "$directory" > "$directory/said" 2>&1 ||
        echo "$1: exit $?"
    tell "$1" "$directory"
    kill $server 2> /dev/null
}

once waiting "async: no" 3
once away "async: yes" ""

directory=$WORK/again
start_server "$directory" 3
mkdir "$directory/pcaps"
cp $sample "$directory/pcaps/a.pcap"
configure "$directory" "server: $directory/socket"
"$IDS" -c "$directory/ids.yaml" -S /dev/null -r "$directory/pcaps" -l "$directory" --runmode=single \
    --pcap-file-continuous --set pcap-file.directory=files --set pcap-file.delay=1 \
    --set pcap-file.poll-interval=1 > "$directory/said" 2>&1 &
engine=$!
until [ -s "$directory/eve.json" ] && grep -q until "$directory/said"; do sleep 0.1; done
sleep 2
first=$(wc -l < "$directory/eve.json")
cp $sample "$directory/pcaps/.b" && mv "$directory/pcaps/.b" "$directory/pcaps/b.pcap"
# All records are written, and the server has been silent for a second: a record on its way when the
# engine ends would count as dropped and be received.
settled() {
    [ "$(wc -l < "$directory/eve.json")" -ge $((2 * first)) ] &&
        [ "$(wc -l < "$directory/commands")" -gt 3 ] &&
        [ "$(wc -l < "$directory/commands")" = "$received_before" ]
}
received_before=
for _ in $(seq 60); do
    settled && break
    received_before=$(wc -l < "$directory/commands")
    sleep 1
done
kill $engine
wait $engine
tell again "$directory"
kill $server
