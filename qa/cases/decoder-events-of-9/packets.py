# SPDX-License-Identifier: GPL-2.0-or-later
"""One packet for each decoder event that Suricata 9 has and 8.0 has not, and one without any."""
import struct

from pcapgen import Capture


def sctp(cap, tag, chunks):
    cap.ip("10.0.0.1", "10.0.0.2", 132, struct.pack(">HHII", 4000, 5000, tag, 0) + chunks)


def capture():
    cap = Capture()
    data = struct.pack(">BBHIHHI", 0, 3, 16, 1, 2, 3, 4)
    sctp(cap, 7, b"\3\0\0\4")
    for tag, chunks in ((7, b"\3\0\0"), (7, b"\3\0\0\3"), (7, b"\2\0\0\4\3\0\0\4"), (7, b"\1\0\0\4"),
                        (0, data), (7, b"\3\0\0\4" * 17), (7, data * 17)):
        sctp(cap, tag, chunks)
    for message in (b"\x11\0\0\0", b"\x11\0\0\0\xe0\0\0\1\2\x7d\0\2", b"\x11\0\0\0\xe0\0\0\1\2\x7d\xff\xff"):
        cap.ip("10.0.0.1", "224.0.0.1", 2, message)
    cap.ip("10.0.0.1", "224.0.0.5", 89, b"ospf")
    for rest in (b"\0" * 7, b"\0" * 6 + b"\x12\x34" + b"\0" * 40):
        cap.frame(b"\2\0\0\0\0\1\2\0\0\0\0\2\x89\x3f" + rest)
    return cap
