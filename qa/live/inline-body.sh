# SPDX-License-Identifier: GPL-2.0-or-later
# inline-body.sh - what any inline engine must do; sourced with the engine's arguments in $capture.
echo "a secret word" > "$work/www/index.html"
echo bad > "$work/www/forbidden.html"
for i in 1 2 3 4 5 6; do head -c $((i * 400000)) /dev/urandom > "$work/www/f$i"; done
serve 80
serve 81
rules 'drop http any any -> any any (msg:"url"; flow:to_server; http.uri; content:"/forbidden"; sid:1;)' \
    'reject tcp any any -> any 81 (msg:"port"; flow:to_server; sid:2;)' \
    'reject udp any any -> any 53 (msg:"dns"; sid:3;)' \
    'alert tcp any 80 -> any any (msg:"word"; flow:to_client; content:"secret"; replace:"public"; sid:4;)'

refusal() {
    on $client python3 -c "
import socket, sys, time
start = time.time()
try:
    s = socket.socket(type=$2); s.settimeout(30); s.connect(('$server_ip', $1)); s.send(b'x' * 20)
    s.recv(1); print('nothing')
except OSError as e:
    print(type(e).__name__ if e.errno is None else e.errno)"
}

for mode in $modes; do
    rm -f "$log"/*
    engine $capture --runmode $mode
    expect "$mode: replaced word" "$(fetch index.html)" "a public word"
    no_answer forbidden.html || fail "$mode: the dropped URL came through"
    expect "$mode: rejected port" "$(refusal 81 socket.SOCK_STREAM)" 111      # refused
    expect "$mode: rejected datagram" "$(refusal 53 socket.SOCK_DGRAM)" 113   # host unreachable
    jobs=
    for i in 1 2 3 4 5 6; do
        fetch f$i > "$work/got$i" & jobs="$jobs $!"
    done
    wait $jobs
    for i in 1 2 3 4 5 6; do
        cmp -s "$work/got$i" "$work/www/f$i" || fail "$mode: download $i differs"
    done
    requests 100 4 || fail "$mode: requests fail"
    await "$mode: requests" urls_seen 100
    stop_engine
    [ "$(stat ips.replaced)" -gt 0 ] || fail "$mode: nothing counted as replaced"
    expect "$mode: rejected" "$(($(stat ips.rejected) >= 2))" 1
    ! strict || expect "$mode: kernel drops" "$(stat capture.kernel_drops)" 0
done
