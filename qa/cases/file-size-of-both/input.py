# SPDX-License-Identifier: GPL-2.0-or-later
from pcapgen import Capture, TcpFlow


def capture():
    cap = Capture()
    flow = TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 80)
    flow.open()
    flow.to_server(b"GET /file HTTP/1.1\r\nHost: example\r\n\r\n")
    flow.to_client(b"HTTP/1.1 200 OK\r\nContent-Length: 4000\r\n\r\nbegin" + b"." * 995)
    for _ in range(3):
        flow.to_client(b"." * 1000)
    flow.close()
    return cap
