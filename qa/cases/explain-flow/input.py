# SPDX-License-Identifier: GPL-2.0-or-later
from pcapgen import Capture, TcpFlow


def capture():
    cap = Capture()
    other = TcpFlow(cap, "10.0.0.1", 40001, "10.0.0.2", 80)
    flow = TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 80)
    other.open()
    flow.open()
    other.to_server(b"GET /other HTTP/1.1\r\nHost: x\r\n\r\n")
    flow.to_server(b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n")
    flow.to_client(b"HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n" + b"x" * 10000)
    flow.close()
    return cap
