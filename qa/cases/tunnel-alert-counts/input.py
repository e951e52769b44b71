# SPDX-License-Identifier: GPL-2.0-or-later
from pcapgen import Capture, TcpFlow


def capture():
    cap = Capture()
    flow = TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 8080)
    flow.open()
    flow.to_server(b"CONNECT mx.example.com:25 HTTP/1.0\r\nno field\r\n\r\n")
    flow.to_client(b"HTTP/1.0 200 OK\r\n\r\n")
    flow.to_client(b"220 mx ESMTP\r\n")
    flow.close()
    return cap
