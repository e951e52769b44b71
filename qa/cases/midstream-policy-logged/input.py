# SPDX-License-Identifier: GPL-2.0-or-later
"""A connection whose beginning was not seen."""
from pcapgen import Capture, TcpFlow


def capture():
    cap = Capture()
    flow = TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 80)
    for _ in range(2):
        flow.to_server(b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n")
        flow.to_client(b"HTTP/1.1 204 No Content\r\n\r\n")
    return cap
