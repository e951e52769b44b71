# SPDX-License-Identifier: GPL-2.0-or-later
"""Bodies of 14 bytes, each of which asks for a window of 16 MiB and fills it; then a plain one."""
from pcapgen import Capture, TcpFlow

# One literal, and 2^24 - 1 copies of it.
BROTLI = bytes.fromhex("cfffff7f0020c2e2b18072efff01")


def capture():
    cap = Capture()
    for i in range(40):
        flow = TcpFlow(cap, "10.0.0.%d" % (i + 1), 40000 + i, "10.9.0.1", 80)
        flow.open()
        flow.to_server(b"GET /packed HTTP/1.1\r\nHost: a.example\r\n\r\n")
        flow.to_client(b"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 9999\r\n\r\n" +
                       BROTLI)
    return cap
