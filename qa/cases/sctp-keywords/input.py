# SPDX-License-Identifier: GPL-2.0-or-later
"""INIT; two DATA chunks behind a SACK, the first of a length that needs padding; 17 chunks, of which
the last is of a type of its own; a chunk cut off; none at all; and 18 DATA chunks."""
import struct

from pcapgen import Capture


def chunk(kind, body):
    return struct.pack(">BBH", kind, 3, 4 + len(body)) + body + bytes(-len(body) % 4)


def data(text):
    return chunk(0, struct.pack(">IHHI", 1, 2, 3, 4) + text)


def capture():
    cap = Capture()
    for vtag, chunks in ((0, chunk(1, bytes(16))),
                         (12345, chunk(3, bytes(12)) + data(b"first") + data(b"second test")),
                         (7, chunk(4, b"") * 16 + chunk(192, bytes(4))),
                         (7, data(b"cut off")[:-2]),
                         (7, b""),
                         (7, b"".join(data(b"number %d;" % i) for i in range(18))),
                         (7, data(b"no padding")[:-2])):
        cap.ip("10.0.0.1", "10.0.0.2", 132,
               struct.pack(">HHII", 4000, 5000, vtag, 0) + chunks)
    return cap
