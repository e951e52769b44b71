# SPDX-License-Identifier: GPL-2.0-or-later
# downloads.sh - 200 downloads at once through an inline engine arrive as they were, while its rules
# are loaded again and again; sourced with the engine's arguments in $capture.
for i in 0 1 2 3 4 5 6 7; do head -c $((100000 + i * 30000)) /dev/urandom > "$work/www/d$i"; done
serve 80
rules 'drop http any any -> any any (msg:"url"; http.uri; content:"/forbidden"; sid:1;)' \
    'alert tcp any any -> any any (msg:"bytes"; content:"|00 00 00 00 00 00|"; sid:2;)' \
    'alert http any any -> any any (msg:"body"; file.data; content:"never there"; sid:3;)'
engine $capture --runmode workers
while sleep 0.2; do kill -USR2 $engine_pid; done & reloads_pid=$!
live_pids="$live_pids $reloads_pid"
on $client python3 - "$server_ip" "$work/www" <<'EOT' || fail "downloads differ"
import hashlib, sys, threading, urllib.request
host, www = sys.argv[1:]
want = [hashlib.sha256(open(f"{www}/d{i}", "rb").read()).digest() for i in range(8)]
good = []
def work(i):
    for attempt in range(3):        # a small server turns some of 200 at once away
        try:
            body = urllib.request.urlopen(f"http://{host}/d{i % 8}", timeout=60).read()
        except OSError:
            continue
        good.append(hashlib.sha256(body).digest() == want[i % 8])
        return
threads = [threading.Thread(target=work, args=(i,)) for i in range(200)]
[t.start() for t in threads]; [t.join() for t in threads]
sys.exit(f"{sum(good)} of 200 downloads are right" if sum(good) != 200 else 0)
EOT
kill $reloads_pid
until_true said "rule reload complete" || fail "no rules were loaded again"
stop_engine
# All at once is more than a build with sanitizers carries on a busy machine: what is lost before it
# is sent again, and must have been counted to be known.
! strict || expect "dropped by the kernel" "$(stat capture.kernel_drops)" 0
echo "dropped by the kernel and sent again: $(stat capture.kernel_drops)"
expect "blocked" "$(stat ips.blocked)" 0
