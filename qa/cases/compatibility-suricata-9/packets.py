# SPDX-License-Identifier: GPL-2.0-or-later
"""A datagram of UDP, and an SCTP packet with a SACK in front of its user data."""
import struct

from pcapgen import Capture


def capture():
    cap = Capture()
    cap.udp("10.0.0.1", 4000, "10.0.0.2", 5000, b"text")
    chunks = struct.pack(">BBHQ", 3, 0, 12, 0)
    chunks += struct.pack(">BBHIHHI", 0, 3, 20, 1, 2, 3, 4) + b"data"
    head = struct.pack(">HHII", 4000, 5000, 7, 0)
    cap.ip("10.0.0.1", "10.0.0.2", 132, head + chunks)
    return cap
