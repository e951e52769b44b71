# SPDX-License-Identifier: GPL-2.0-or-later
"""VXLAN with four kinds of headers; each has a datagram inside."""
import struct

from pcapgen import Capture


def capture():
    inner, cap = Capture(), Capture()
    inner.udp("192.168.0.1", 1000, "192.168.0.2", 2000, b"inside")
    for flags, middle, last in ((8, 0, 0), (8, 0, 1), (0x88, 0, 0), (8, 0x1234, 0)):
        cap.udp("10.0.0.1", 5000, "10.0.0.2", 4789, struct.pack(
            ">BBHI", flags, 0, middle, 5 << 8 | last) + inner.frames[0][1])
    return cap
