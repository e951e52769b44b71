# SPDX-License-Identifier: GPL-2.0-or-later
"""1,500 connections with data behind a hole, which is 12 MB; then, after their timeouts, quiet ones."""
from pcapgen import ACK, PSH, Capture, TcpFlow


def capture():
    cap = Capture()
    for i in range(1500):
        flow = TcpFlow(cap, f"10.1.{i >> 8}.{i & 255}", 30000, "192.168.0.1", 9999)
        flow.open()
        flow.seq[0] += 1
        for _ in range(6):
            flow.send(0, PSH | ACK, b"x" * 1400)
    for i in range(200):
        if i % 50 == 0:
            cap.wait(1000)
        flow = TcpFlow(cap, f"10.2.0.{i}", 30000, "192.168.0.1", 80)
        flow.open()
        flow.data(0, b"GET /quiet HTTP/1.1\r\nHost: a\r\n\r\n")
        flow.data(1, b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nquietbody")
        flow.close()
    return cap
