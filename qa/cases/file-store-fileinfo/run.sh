# SPDX-License-Identifier: GPL-2.0-or-later
set -e
cd "$WORK"
cat > make.py <<'END'
from pcapgen import Capture, TcpFlow

cap = Capture()
for port in range(40000, 40003):
    flow = TcpFlow(cap, "10.0.0.1", port, "10.0.0.2", 80)
    flow.open()
    flow.to_server(b"GET /f HTTP/1.1\r\nHost: a\r\n\r\n")
    flow.to_client(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfile")
    flow.close()
cap.write("in.pcap")
END
cat > count.py <<'END'
import glob
import json

records = glob.glob("files/*/*.json")
ports = {json.load(open(path))["dest_port"] for path in records}
files = set(glob.glob("files/*/*")) - set(records)
print(f"{len([f for f in files if '/tmp/' not in f])} files, {len(records)} records of {len(ports)} flows")
END
PYTHONPATH="$SRC/qa" python3 make.py
cat > test.yaml <<'END'
%YAML 1.1
---
outputs:
  - file-store: {version: 2, enabled: yes, dir: files, force-filestore: yes, write-fileinfo: yes}
app-layer:
  protocols:
    http: {enabled: yes}
END
echo > test.rules
"$IDS" -c test.yaml -S test.rules -l . -k none -r in.pcap
python3 count.py
