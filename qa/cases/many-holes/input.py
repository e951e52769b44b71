# SPDX-License-Identifier: GPL-2.0-or-later
"""Bodies whose segments come in any order, so that thousands wait behind holes: all at once backwards,
shuffled, with copies that overlap."""
import random

from pcapgen import ACK, PSH, Capture, TcpFlow

SIZE = 20
COUNT = 3000


def body(i):
    return b"".join(b"%04d segment %08x" % (n, n * 2654435761 + i & 0xffffffff)
                    for n in range(COUNT))


def send(cap, port, order, overlap):
    flow = TcpFlow(cap, "10.0.0.1", port, "10.0.0.2", 80)
    flow.open()
    flow.to_server(b"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n")
    data = body(port)
    flow.to_client(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(data))
    first = flow.seq[1]
    for n in order:
        at = n * (SIZE + 1)
        flow.seq[1] = first + at
        flow.send(1, PSH | ACK, data[at:at + SIZE + 1 + overlap])
    flow.seq[1] = first + len(data)
    flow.send(0, ACK)
    flow.close()


def capture():
    cap, rng = Capture(), random.Random(1)
    shuffled = list(range(COUNT))
    rng.shuffle(shuffled)
    even = list(range(1, COUNT, 2)) + list(range(0, COUNT, 2))
    for port, order, overlap in ((40000, list(reversed(range(COUNT))), 0), (40001, shuffled, 0),
                                 (40002, shuffled, 13), (40003, even, 0), (40004, even, 50)):
        send(cap, port, order, overlap)
    return cap
