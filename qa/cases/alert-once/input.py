# SPDX-License-Identifier: GPL-2.0-or-later
"""A word in one segment, in two, cut in two by segments, three times before an ACK, in the second
segment alone, in three of five segments that make two windows, and at the end without an ACK."""
from pcapgen import ACK, PSH, Capture, TcpFlow


def flows(cap):
    for host in range(1, 8):
        flow = TcpFlow(cap, f"10.0.0.{host}", 40000 + host, "10.0.1.1", 7777)
        flow.open()
        yield flow
        if host != 7:
            flow.close()


def capture():
    cap = Capture()
    sent = [
        [b"needle one", b"more"],
        [b"needle one", b"needle two"],
        [b"need", b"le one"],
        [],
        [b"x" * 50, b"needle two", b"end"],
        [b"needle" + b"a" * 1400, b"b" * 1400, b"needle" + b"c" * 1400, b"needle" + b"d" * 1400,
         b"e" * 1400],
        [],
    ]
    for number, flow in enumerate(flows(cap)):
        for segment in sent[number]:
            flow.to_server(segment)
        if number == 3:
            for end in b"abc":
                flow.send(0, PSH | ACK, b"needle " + bytes([end]))
            flow.send(1, ACK)
        if number == 6:
            flow.to_server(b"start")
            flow.send(0, PSH | ACK, b"needle last")
    return cap
