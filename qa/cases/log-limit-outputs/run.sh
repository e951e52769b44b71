# SPDX-License-Identifier: GPL-2.0-or-later
set -e
cd "$WORK"
cat > make.py <<'END'
"""Connections that each ask for many small files, all of which differ."""
from pcapgen import Capture, TcpFlow

cap = Capture()
for i in range(30):
    flow = TcpFlow(cap, "10.0.0.%d" % i, 40000, "10.0.1.1", 80)
    flow.open()
    for j in range(40):
        flow.to_server(b"GET /\xff\xff\xff\xff\xff\xff\xff\xff HTTP/1.1\r\nHost: a\r\n\r\n")
        body = b"%d %d" % (i, j)
        flow.to_client(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
    flow.close()
cap.write("in.pcap")
END
cat > writer.lua <<'END'
function init(args) return { type = "packet" } end
function setup(args) file = io.open(os.getenv("OUT") .. "/script.log", "w") end
function log(args) file:write(string.rep("x", 1000), "\n") end
function deinit(args) file:close() end
END
cat > test.yaml <<'END'
%YAML 1.1
---
log-limit: {by-byte: 4, burst: 20kb}
outputs:
  - file-store: {version: 2, enabled: yes, dir: files, force-filestore: yes, write-fileinfo: yes}
  - http-log: {enabled: yes, custom: yes, customformat: "%u %u %u %u"}
  - http-body-data: {enabled: yes, type: both}
  - lua: {enabled: yes, scripts-dir: ".", scripts: [writer.lua]}
  - stats: {enabled: yes, filename: stats.log}
app-layer:
  protocols:
    http: {enabled: yes}
END
cat > check.py <<'END'
import os
import sys

BLOCK = 4096                    # what log-limit counts for a file


def paths(out):
    return [os.path.join(at, name) for at, _, names in os.walk(out) for name in names]


def counted(out):
    """Bytes that the flows had to pay for."""
    whole = ("http.log", "script.log", "http-body-data.log")
    files = [path for path in paths(out) if os.path.basename(path) not in
             (*whole, "stats.log", "suricata.log")]
    return sum(os.path.getsize(os.path.join(out, name)) for name in whole) + sum(
        BLOCK + os.path.getsize(path) for path in files)


def left_out(out):
    with open(os.path.join(out, "stats.log"), encoding="utf-8") as lines:
        return any(line.startswith("log.left_out ") and int(line.split("|")[2]) > 0 for line in lines)


def listing(out):
    return sorted((os.path.basename(path), os.path.getsize(path)) for path in paths(out)
                  if "stats.log" not in path and "suricata.log" not in path)


with open("in.pcap", "rb") as file:
    frames = len(file.read()) - 24
most = 4 * frames + 20 * 1024 + 30 * 1001       # a script's last call of each flow may exceed
mode, out = sys.argv[1], sys.argv[2]
if counted(out) > most:
    print(f"{mode}: {counted(out)} bytes, at most {most}")
elif not left_out(out):
    print(f"{mode}: nothing was left out")
elif mode == "single":
    print("single: http-log, store, script and body-data within the limit; records were left out")
elif listing(out) == listing("single"):
    print(f"{mode}: the same")
else:
    print(f"{mode}: {set(listing(out)) ^ set(listing('single'))}")
END
PYTHONPATH="$SRC/qa" python3 make.py
echo > test.rules
for mode in single workers; do
    mkdir $mode
    OUT=$mode "$IDS" -c test.yaml -S test.rules -l $mode -k none -r in.pcap --runmode $mode --deterministic
    python3 check.py $mode $mode
done
