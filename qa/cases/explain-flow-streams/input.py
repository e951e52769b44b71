# SPDX-License-Identifier: GPL-2.0-or-later
from pcapgen import ACK, PSH, Capture, TcpFlow


def capture():
    cap = Capture()
    flow = TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 9999)
    flow.open()
    flow.seq[0] = 1011
    flow.send(0, PSH | ACK, b"ABCDEFGHIJ")          # 10 to 20, behind a hole
    flow.seq[0] = 1001
    flow.send(0, PSH | ACK, b"0123456789ABCxyz")    # 0 to 16: fills it, and differs from 13 on
    flow.seq[0] = 1021
    flow.send(1, ACK)
    flow.seq[0] = 1028
    flow.send(0, PSH | ACK, b"after the gap")       # 27 to 40: 7 bytes never come
    flow.send(1, ACK)
    flow.seq[0] = 1028
    flow.send(0, PSH | ACK, b"after the gap")       # once more
    flow.seq[1] += 5000000
    flow.send(0, PSH | ACK, b"refused")             # acknowledges what cannot be
    flow.seq[1] -= 5000000
    flow.seq[0] = 1041
    flow.to_client(b"x" * 100)
    flow.reset()
    return cap
