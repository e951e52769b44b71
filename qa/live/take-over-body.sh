# SPDX-License-Identifier: GPL-2.0-or-later
# take-over-body.sh - an inline engine is replaced under load; sourced with the engine's arguments in
# $capture. long_talk.py keeps connections open over all hand-overs.
echo hello > "$work/www/index.html"
serve 80
rules 'drop tcp any any -> any 7 (msg:"word"; flow:to_server; content:"forbidden"; sid:1;)' \
    'alert http any any -> any any (msg:"n"; flow:established,to_server; http.uri; content:"?n="; sid:2;)' \
    'alert tcp any any -> any 7 (msg:"set"; flow:to_server; content:"remember"; flowbits:set,seen; noalert; sid:3;)' \
    'alert tcp any any -> any 7 (msg:"bit"; flow:to_server; content:"recall"; flowbits:isset,seen; sid:4;)' \
    'drop tcp any any -> any 7 (msg:"flow"; flow:to_server; content:"never again"; sid:5;)' \
    'alert http any any -> any 81 (msg:"k"; flow:established,to_server; http.uri; content:"?k="; sid:6;)' \
    'alert http any any -> any 81 (msg:"s"; flow:established,to_server; http.uri; content:"?s="; sid:8;)' \
    'alert smtp any any -> any 2525 (msg:"m"; flow:established,to_server; smtp.mail_from; content:"@b"; sid:9;)' \
    'alert tcp any any -> any 8007 (msg:"word"; flow:to_server; content:"spanning-word"; sid:10;)' \
    'alert http2 any any -> any 82 (msg:"h2"; flow:established,to_server; http.uri; content:"/h2spanning"; sid:11;)' \
    'alert http any 81 -> any any (msg:"body"; flow:established,to_client; http.response_body; content:"hello"; sid:7;)'

ip netns exec $server python3 "$top/qa/live/take_over.py" echo 7 > /dev/null 2>&1 &
live_pids="$live_pids $!"
until_true listens $server 127.0.0.1 7 || fail "the echo server does not start"
ip netns exec $server python3 "$top/qa/live/take_over.py" web 81 > /dev/null 2>&1 &
live_pids="$live_pids $!"
until_true listens $server 127.0.0.1 81 || fail "the second web server does not start"

ip netns exec $server python3 "$top/qa/live/take_over.py" mail 2525 > /dev/null 2>&1 &
live_pids="$live_pids $!"
until_true listens $server 127.0.0.1 2525 || fail "the mail server does not start"

for kind in "echo 8007" "ssh 2222" "http2 82"; do
    ip netns exec $server python3 "$top/qa/live/take_over.py" $kind > /dev/null 2>&1 &
    live_pids="$live_pids $!"
    until_true listens $server 127.0.0.1 ${kind#* } || fail "the server of $kind does not start"
done

sed -i 's/types: \[alert,/types: [smtp, ssh, http2, alert,/' "$work/ids.yaml"
engine $capture
# One engine that sees this traffic at the client, by the same rule and inline as well: what it finds
# in the raw stream, the others must find together.
sed -n '/sid:10;/p' "$work/test.rules" > "$work/one.rules"
cat > "$work/one.yaml" <<EOT
%YAML 1.1
---
outputs: [{eve-log: {enabled: yes, filename: eve.json, types: [alert, flow]}}]
af-packet: [{interface: c0, threads: 1, ring-size: 20000}]
stream: {checksum-validation: no}
classification-file: /dev/null
reference-config-file: /dev/null
threshold-file: /dev/null
unix-command: {enabled: no}
EOT
mkdir "$work/one"
ip netns exec $client "$IDS_BIN" -c "$work/one.yaml" -S "$work/one.rules" -l "$work/one" -i c0 --simulate-ips \
    tcp port 8007 > "$work/one.out" 2>&1 &
one_pid=$!
live_pids="$live_pids $one_pid"
until_true grep -q "Engine started" "$work/one.out" || { cat "$work/one.out"; fail "no single engine"; }
engines=0
# replace [ARGUMENTS]: another engine takes over; back when it runs and the old one has ended.
replace() {
    local old=$engine_pid
    engines=$((engines + 1))
    ip netns exec $middle "$IDS_BIN" -c "$work/ids.yaml" $rules_option -l "$log" $capture \
        --take-over "$work/socket" "$@" >> "$work/new$engines" 2>&1 &
    engine_pid=$!
    live_pids="$live_pids $engine_pid"
    if ! until_true grep -q "Engine started" "$work/new$engines"; then
        cat "$work/new$engines"
        fail "the engine does not take over"
        engine_pid=$old
        return 1
    fi
    wait "$old" || fail "the old engine ended with status $?"
    expect "pid file" "$(cat "$work/pid")" "$engine_pid"
}

# refused ARGUMENTS: such an engine must end with an error, and the old one go on.
refused() {
    ip netns exec $middle "$IDS_BIN" -c "$work/ids.yaml" $rules_option -l "$log" "$@" \
        --take-over "$work/socket" > "$work/refused" 2>&1 && fail "$*: it started"
    expect "$*: the reason" "$(grep -c "take-over: \|in the engine that runs" "$work/refused")" 1
    expect "$*: pid file" "$(cat "$work/pid")" "$engine_pid"
    tell uptime > /dev/null || fail "$*: the control socket does not answer"
}

# Whatever becomes of a new process, the old one goes on.
failures_leave_the_engine() {
    local stage
    refused $capture_of_others
    for stage in offer commit twice; do
        on $middle python3 "$top/qa/live/take_over.py" quit "$work/socket" $stage || fail "$stage"
        until_true tell uptime || fail "$stage: the control socket does not answer"
        on $client python3 "$top/qa/live/take_over.py" once $server_ip || fail "$stage: no traffic"
    done
    expect "processes that failed" "$(cat "$work"/new[1-9]* | grep -c "this one goes on")" 3
}

on $client python3 "$top/qa/live/take_over.py" talk $server_ip "$work/stop" > "$work/talk" 2>&1 &
talk_pid=$!
live_pids="$live_pids $talk_pid"
until_true grep -q "talking" "$work/talk" || fail "connections do not open"
on $client python3 "$top/qa/live/take_over.py" get $server_ip "$work/stop" > "$work/get" 2> "$work/get-errors" &
get_pid=$!
on $client python3 "$top/qa/live/take_over.py" keep $server_ip "$work/stop" > "$work/keep" 2>&1 &
keep_pid=$!
echo 0 > "$work/ticks"
on $client python3 "$top/qa/live/take_over.py" span $server_ip "$work/stop" "$work/ticks" > "$work/span" 2> "$work/span-errors" &
span_pid=$!
live_pids="$live_pids $get_pid $keep_pid $span_pid"
half_sent() {
    for kind in request mail word ssh http2; do [ -e "$work/ticks.$kind.$1" ] || return 1; done
}
for i in 1 2 3 4 5 6 7 8 9 10; do
    until_true half_sent $((i - 1)) || { tail -5 "$work/span-errors"; fail "no half messages"; }
    replace || exit 1
    tell uptime > /dev/null || fail "the control socket does not answer after hand-over $i"
    echo $i > "$work/ticks.new" && mv "$work/ticks.new" "$work/ticks"
    sleep 0.5
    [ $i != 3 ] || failures_leave_the_engine
done
touch "$work/stop"
wait $get_pid || { tail -5 "$work/get-errors"; fail "requests fail"; }
wait $keep_pid || { tail -5 "$work/keep"; fail "the connection that is kept breaks"; }
wait $span_pid || { tail -5 "$work/span-errors"; fail "a connection with half a message breaks"; }
wait $talk_pid || { tail -5 "$work/talk"; fail "a connection breaks"; }
cat "$work"/new[1-9]* | grep "taken over"
await "requests in EVE" urls_seen "$(cat "$work/get")"

words_found() { grep -c '"signature_id":10,' "$1/eve.json"; }
words_agree() { [ "$(words_found "$log")" = "$(words_found "$work/one")" ]; }
await "alerts for words" words_agree
kill -TERM $one_pid
wait $one_pid || fail "the single engine ended with an error"

# What a rule has decided about a flow, another process keeps.
python3 - "$log" "$(cat "$work/get")" "$(cat "$work/keep")" $(cat "$work/span") "$(words_found "$work/one")" <<'EOT' || fail "what the flows remember"
import collections, json, sys
alerts = collections.Counter()
records = collections.Counter()
for line in open(sys.argv[1] + "/eve.json"):
    e = json.loads(line)
    if e["event_type"] == "alert":
        alerts[e["alert"]["signature_id"]] += 1
    elif e["event_type"] == "http" and "?s=" in e["http"].get("url", ""):
        records["http"] += 1
    elif e["event_type"] == "http" and e["http"].get("url") == "/h2spanning":
        records["http2"] += 1
    elif e["event_type"] == "ssh":
        records["ssh"] += 1
    elif e["event_type"] == "smtp" and "mail_from" in e["smtp"]:
        records["smtp"] += 1
print(dict(alerts))
if alerts[4] != 4:
    sys.exit(f"the flowbit was found {alerts[4]} times, not 4")
requests, kept = int(sys.argv[2]), int(sys.argv[3])
if alerts[2] != requests:
    sys.exit(f"{alerts[2]} alerts for {requests} requests")
# A message that spans a hand-over, each way, is inspected and logged once, by one of the engines.
print(f"{kept} requests on one connection: {alerts[6]} alerts, {alerts[7]} for bodies")
spans, mails = int(sys.argv[4]), int(sys.argv[5])
print(f"{spans} requests and {mails} mails span hand-overs: {alerts[8]} and {alerts[9]} alerts, "
      f"{records['http']} and {records['smtp']} records")
words, ssh, http2, one = map(int, sys.argv[6:10])
print(f"{words} words: {alerts[10]} alerts, {one} by one engine; {ssh} connections of SSH: {records['ssh']} records; "
      f"{http2} requests by HTTP/2: {alerts[11]} alerts, {records['http2']} records")
# Inline a window is searched again with each segment, so a word may have several alerts.
if min(words, ssh, http2) < 10 or one < words or alerts[10] != one:
    sys.exit("a word in the raw stream that spans a hand-over is lost or comes too often")
if records["ssh"] != ssh:
    sys.exit("a record of SSH is lost or comes twice")
if alerts[11] != http2 or records["http2"] != http2:
    sys.exit("a request after the first bytes of HTTP/2 is lost or comes twice")
if alerts[6] != kept or alerts[7] != kept + spans:
    sys.exit(f"{alerts[6]} and {alerts[7]} alerts for {kept} requests on one connection")
if min(spans, mails) < 10 or alerts[8] != spans or alerts[9] != mails:
    sys.exit("a message that spans a hand-over is lost or comes twice")
if records["http"] != spans or records["smtp"] != mails:
    sys.exit("a record is lost or comes twice")
if alerts[1] == 0 or alerts[5] == 0:
    sys.exit("rules that drop have not matched")
EOT
stop_engine
