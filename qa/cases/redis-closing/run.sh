# SPDX-License-Identifier: GPL-2.0-or-later
# The server closes the first connection after three records. A capture is read, then after more
# than a second another: by then there is a second connection.
. "$QA/cases/redis/redis.sh"
sample=$QA/samples/quickstart.pcap

tell() { # name, folder: what was written, received and dropped
    written=$(wc -l < "$2/eve.json")
    received=$(wc -l < "$2/commands")
    dropped=$(sed -n 's/.*redis at .*: \([0-9]*\) records were dropped.*/\1/p' "$2/said")
    echo "$1: of $written written $((written - received - ${dropped:-0})) not accounted for"
    [ "$received" -gt 3 ] && echo "$1: received again" || echo "$1: received $received"
    grep -o "records are dropped until it is back" "$2/said" | sort | uniq -c
}

once() { # name, keys, close-after
    folder=$WORK/$1
    start_server "$folder" $3
    [ -n "$3" ] || kill $server
    configure "$folder" "server: $folder/socket, $2"
    "$IDS" -c "$folder/ids.yaml" -S /dev/null -r $sample -l "$folder" > "$folder/said" 2>&1 ||
        echo "$1: exit $?"
    tell "$1" "$folder"
    kill $server 2> /dev/null
}

once waiting "async: no" 3
once away "async: yes" ""

folder=$WORK/again
start_server "$folder" 3
mkdir "$folder/pcaps"
cp $sample "$folder/pcaps/a.pcap"
configure "$folder" "server: $folder/socket"
"$IDS" -c "$folder/ids.yaml" -S /dev/null -r "$folder/pcaps" -l "$folder" --runmode=single \
    --pcap-file-continuous --set pcap-file.directory=files --set pcap-file.delay=1 \
    --set pcap-file.poll-interval=1 > "$folder/said" 2>&1 &
engine=$!
until [ -s "$folder/eve.json" ] && grep -q until "$folder/said"; do sleep 0.1; done
sleep 2
cp $sample "$folder/pcaps/.b" && mv "$folder/pcaps/.b" "$folder/pcaps/b.pcap"
for _ in $(seq 200); do
    [ "$(wc -l < "$folder/commands")" -gt 3 ] && break
    sleep 0.1
done
kill $engine
wait $engine
tell again "$folder"
kill $server
