# SPDX-License-Identifier: GPL-2.0-or-later
from pcapgen import Capture, TcpFlow

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"


def capture():
    """The last line is cut off."""
    cap = Capture()
    for n, line in enumerate((b"GET /a   HTTP/1.1 \r\nHost: a\r\n\r\n", b"GET /a \r\n\r\n",
                              b"GET /a?b \t HTTP/1.1\r\nHost: a\r\n\r\n",
                              b"GET /a%20  HTTP/1.1\r\nHost: a\r\n\r\n", b"GET /a ")):
        flow = TcpFlow(cap, "10.0.0.1", 40000 + n, "10.0.0.2", 80)
        flow.open()
        flow.to_server(line)
        if line.endswith(b"\n"):
            flow.to_client(ANSWER)
        flow.close()
    return cap
