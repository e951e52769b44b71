# SPDX-License-Identifier: GPL-2.0-or-later
from pcapgen import Capture, TcpFlow

TARGETS = [b"/", b"mail.example.com /", b"mail.example.com:25"]


def capture():
    cap = Capture()
    for i, target in enumerate(TARGETS):
        flow = TcpFlow(cap, "10.0.0.1", 40000 + i, "10.0.0.2", 8080)
        flow.open()
        flow.to_server(b"CONNECT " + target + b" HTTP/1.1\r\nHost: mx.example.com:25\r\n\r\n")
        flow.to_client(b"HTTP/1.1 200 OK\r\n\r\n")
        flow.close()
    return cap
