# SPDX-License-Identifier: GPL-2.0-or-later
from pcapgen import Capture, TcpFlow


def capture():
    cap = Capture()
    for port, client, server in ((40000, "10.0.0.1", "10.0.0.2"),
                                 (40001, "2001:db8::1", "2001:db8::2")):
        flow = TcpFlow(cap, client, port, server, 80)
        flow.open()
        flow.to_server(b"GET /f HTTP/1.1\r\nHost: a\r\n\r\n")
        flow.to_client(b"HTTP/1.1 200 OK\r\n\r\nneedle")
    return cap
