# SPDX-License-Identifier: GPL-2.0-or-later
"""A body of which a first part comes at once, and the rest a byte at a time. Each byte has the rule
try some 2,000 steps, less than detect.inspection-recursion-limit."""
from pcapgen import Capture, TcpFlow

FIRST = b"x" * 32000 + b"abcabz " * 600


def capture():
    cap = Capture()
    flow = TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 80)
    flow.open()
    flow.to_server(b"POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" %
                   (len(FIRST) + 207) + FIRST)
    for byte in b"abcabz " * 28 + b"the end q!!":
        flow.to_server(bytes([byte]))
    flow.to_client(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    flow.close()
    return cap
