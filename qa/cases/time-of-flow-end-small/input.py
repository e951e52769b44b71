# SPDX-License-Identifier: GPL-2.0-or-later
from pcapgen import Capture, TcpFlow


def capture():
    cap = Capture()
    flow = TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 80)
    flow.open()
    flow.to_server(b"GET /f HTTP/1.1\r\nHost: a\r\n\r\n")
    flow.to_client(b"HTTP/1.1 200 OK\r\n\r\nneedle")
    cap.udp("10.0.0.1", 40001, "10.0.0.2", 9, b"once")
    cap.wait(10000)
    cap.udp("10.0.0.1", 40001, "10.0.0.2", 9, b"again")
    cap.ping("10.0.0.3", "10.0.0.4")
    return cap
