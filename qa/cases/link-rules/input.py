# SPDX-License-Identifier: GPL-2.0-or-later
"""An ARP request, plain and in a VLAN, a malformed one, LLDP, and a datagram of UDP."""
import struct

from pcapgen import MAC_A, Capture, address

ARP = struct.pack(">HHBBH", 1, 0x0800, 6, 4, 1) + MAC_A + address("10.0.0.1") + bytes(6) + \
    address("10.0.0.2")


def capture():
    cap = Capture()
    cap.frame(b"\xff" * 6 + MAC_A + b"\x08\x06" + ARP)
    cap.frame(b"\xff" * 6 + MAC_A + b"\x81\x00\x00\x05\x08\x06" + ARP)
    cap.frame(b"\xff" * 6 + MAC_A + b"\x08\x06" + ARP[:20])
    cap.frame(bytes.fromhex("0180c200000e") + MAC_A + b"\x88\xcc" + bytes(40))
    cap.udp("10.0.0.1", 4000, "10.0.0.2", 5000, b"over IP")
    return cap
