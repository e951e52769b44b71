# SPDX-License-Identifier: GPL-2.0-or-later
from pcapgen import Capture, TcpFlow

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def capture():
    """Three answers in a segment, and only the first has a request."""
    cap = Capture()
    flow = TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 80)
    flow.open()
    flow.to_server(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    flow.to_client(3 * ANSWER)
    flow.close()
    return cap
