# SPDX-License-Identifier: GPL-2.0-or-later
# Nothing acknowledges the request, so that rules see it with the last, made-up packet only.
set -e
cd "$WORK"
cat > make.py <<'END'
from pcapgen import Capture, TcpFlow

cap = Capture()
flow = TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 80)
flow.open()
flow.send(0, 0x18, b"GET /end HTTP/1.1\r\nHost: a\r\n\r\n")
cap.write("in.pcap")
END
cat > count.py <<'END'
import glob

import captures

for path in glob.glob("log.pcap.*"):
    log = captures.read(path)
    print(len(log.packets), "packets:", log.packets[0][2][54:62].decode())
END
PYTHONPATH="$SRC/qa" python3 make.py
cat > test.yaml <<'END'
%YAML 1.1
---
outputs:
  - pcap-log: {enabled: yes, filename: log.pcap, conditional: alerts}
app-layer:
  protocols:
    http: {enabled: yes}
END
echo 'alert http any any -> any any (msg:"end"; http.uri; content:"/end"; sid:1;)' > test.rules
"$IDS" -c test.yaml -S test.rules -l . -k none -r in.pcap
PYTHONPATH="$SRC/qa" python3 count.py
