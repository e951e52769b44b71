# SPDX-License-Identifier: GPL-2.0-or-later
"""A body that is said to be chunked and is not."""
from pcapgen import Capture, TcpFlow


def capture():
    cap = Capture()
    flow = TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 80)
    flow.open()
    flow.to_server(b"GET /one HTTP/1.1\r\nHost: a.example\r\n\r\n")
    flow.to_client(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                   b"This is no chunk, but all there is.")
    return cap
