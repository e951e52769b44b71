# SPDX-License-Identifier: GPL-2.0-or-later
"""Two datagrams; the checksum of the second is wrong."""
import struct

from pcapgen import Capture


def capture():
    cap = Capture()
    cap.udp("10.0.0.1", 4000, "10.0.0.2", 5000, b"right")
    cap.ip("10.0.0.1", "10.0.0.2", 17, struct.pack(">HHHH", 4000, 5000, 13, 1) + b"wrong")
    return cap
