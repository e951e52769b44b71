# SPDX-License-Identifier: GPL-2.0-or-later
# full-disk.sh - the disk of the logs is full, and every memcap is tiny: an inline engine goes on by
# the same verdicts. Sourced with the hosts made, the engine's arguments in `arguments` and what it
# captures by in `capture`.
mount -t tmpfs -o size=1m none "$log" || skip "no tmpfs"
trap 'umount "$log"; live_end' EXIT
config "flow: {memcap: 1mb, hash-size: 256, prealloc: 10}
stream: {memcap: 256kb, reassembly: {memcap: 512kb}}
app-layer: {protocols: {http: {enabled: yes, memcap: 64kb}}}
host: {memcap: 64kb}
defrag: {memcap: 64kb}
$capture"
echo hello > "$work/www/index.html"
echo bad > "$work/www/forbidden.html"
serve 80
serve 81
rules 'drop tcp any any -> any 81 (msg:"port"; sid:1;)' \
    'alert tcp any any -> any any (msg:"much to log"; sid:2;)'
engine $arguments
requests 1000 8 || fail "requests fail"
no_answer index.html 81 || fail "a dropped port answers"
[ "$(df --output=avail "$log" | tail -1)" -lt 100 ] || fail "the disk did not fill"
rm -f "$log"/*
kill -HUP $engine_pid
requests 20 2 || fail "requests fail after there is room again"
until_true grep -q much "$log/eve.json" || fail "no log after there is room again"
stop_engine
