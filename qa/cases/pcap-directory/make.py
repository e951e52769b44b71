# SPDX-License-Identifier: GPL-2.0-or-later
"""make.py FOLDER: one connection cut in two files, and another that stands in a third.

The later file is the older one by the time of its packets, but the files are dated as they are
to be read."""
import os
import sys

from pcapgen import Capture, TcpFlow

directory = sys.argv[1]
os.makedirs(directory, exist_ok=True)
whole = Capture()
flow = TcpFlow(whole, "10.0.0.1", 40000, "10.0.0.2", 80)
flow.open()
flow.to_server(b"GET /first-half")
middle = len(whole.frames)
flow.to_server(b"-second-half HTTP/1.1\r\nHost: a\r\n\r\n")
flow.to_client(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
flow.close()
other = Capture()
other.now -= 3600
flow = TcpFlow(other, "10.0.0.3", 40000, "10.0.0.2", 80)
flow.open()
flow.to_server(b"GET /whole HTTP/1.1\r\nHost: a\r\n\r\n")
flow.close()
parts = [Capture(), Capture(), other]
parts[0].frames, parts[1].frames = whole.frames[:middle], whole.frames[middle:]
for number, part in enumerate(parts):
    name = os.path.join(directory, f"{number}.pcap")
    part.write(name)
    os.utime(name, (1000 + number, 1000 + number))
