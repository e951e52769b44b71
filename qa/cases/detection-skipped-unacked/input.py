# SPDX-License-Identifier: GPL-2.0-or-later
"""Two servers of no known protocol send 102,200 bytes, of which the client acknowledges 59,860: one
in order, the other with a hole behind these bytes."""
from pcapgen import ACK, Capture, TcpFlow


def server_sends(cap, port, hole):
    flow = TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", port)
    flow.open()
    for n in range(70):
        if n == 40:
            flow.send(0, ACK)
            after = flow.seq[1] + 1460
        if hole and n == 45:
            flow.seq[1] += 1460
            continue
        flow.send(1, ACK, b"\xf0\xf1" * 730)
    cap.tcp("10.0.0.1", 40000, "10.0.0.2", port, flow.seq[0], after, ACK)


def capture():
    cap = Capture()
    server_sends(cap, 50000, False)
    server_sends(cap, 50001, True)
    return cap
