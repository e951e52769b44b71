# SPDX-License-Identifier: GPL-2.0-or-later
from pcapgen import ACK, PSH, Capture, TcpFlow


def capture():
    cap = Capture()
    flow = TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 9999)
    flow.open()
    flow.send(0, PSH | ACK, b"good")
    flow.seq[0] -= 4
    flow.send(0, PSH | ACK, b"evil")                # the same bytes otherwise: the first count
    flow.send(1, ACK)
    flow.to_server(b" drop me")
    flow.to_server(b" too late")
    return cap
