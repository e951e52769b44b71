# SPDX-License-Identifier: GPL-2.0-or-later
"""A datagram in two fragments over IPv4 and IPv6, an ICMP error, ESP, and a protocol by number."""
import struct

from pcapgen import Capture

PAYLOAD = b"abcdefghijklmnopqrstuvwxyz012345"


def datagram(cap, source, target):
    head = struct.pack(">HHHH", 4000, 5000, 8 + len(PAYLOAD), 0)
    return cap.with_checksum(source, target, 17, head + PAYLOAD, 6)


def capture():
    cap = Capture()
    whole = datagram(cap, "10.0.0.1", "10.0.0.2")
    cap.ip("10.0.0.1", "10.0.0.2", 17, whole[:24], more=True, ident=7)
    cap.ip("10.0.0.1", "10.0.0.2", 17, whole[24:], fragment=24, ident=7)
    whole = datagram(cap, "fd00::1", "fd00::2")
    cap.ip("fd00::1", "fd00::2", 44, struct.pack(">BBHI", 17, 0, 1, 9) + whole[:24])
    cap.ip("fd00::1", "fd00::2", 44, struct.pack(">BBHI", 17, 0, 24, 9) + whole[24:])
    quoted = struct.pack(">BBHHHBBH", 0x45, 0, 28, 1, 0, 64, 17, 0)
    quoted += bytes([10, 0, 0, 1, 10, 0, 0, 2]) + struct.pack(">HHHH", 4000, 5000, 8, 0)
    cap.ip("10.0.0.2", "10.0.0.1", 1, struct.pack(">BBHI", 3, 3, 0, 0) + quoted)
    cap.ip("10.0.0.3", "10.0.0.4", 50, struct.pack(">II", 0x10002, 1) + bytes(16))
    cap.ip("10.0.0.5", "10.0.0.6", 116, bytes(8))
    return cap
