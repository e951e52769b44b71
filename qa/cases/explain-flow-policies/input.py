# SPDX-License-Identifier: GPL-2.0-or-later
"""Bytes 10 to 20 wait behind a hole; then come other bytes, in each of nine positions; then what was
missing. At least six bytes are common, and of no copy are as many outside of them."""
from pcapgen import ACK, PSH, Capture, TcpFlow

POSITIONS = [(start, end) for start in (8, 10, 12) for end in (18, 20, 22)]


def send(flow, start, data):
    flow.seq[0] = 1001 + start
    flow.send(0, PSH | ACK, data)


def capture():
    cap = Capture()
    for number, (start, end) in enumerate(POSITIONS):
        flow = TcpFlow(cap, "10.0.0.1", 40000 + number, "10.0.0.2", 9999)
        flow.open()
        send(flow, 10, b"o" * 10)
        send(flow, start, b"n" * (end - start))
        send(flow, 0, b"f" * min(start, 10))
        flow.seq[0] = 1001 + max(end, 20)
        flow.send(1, ACK)
        flow.close()
    return cap
