# SPDX-License-Identifier: GPL-2.0-or-later
"""Two traps of version 1, a trap of version 2c, and a request."""
from pcapgen import Capture, address


def ber(tag, *parts):
    body = b"".join(parts)
    return bytes([tag, len(body)]) + body


def message(version, pdu):
    return ber(0x30, ber(2, bytes([version])), ber(4, b"public"), pdu)


def trap(oid, agent):
    return message(0, ber(0xa4, ber(6, oid), ber(0x40, address(agent)), ber(2, b"\6"), ber(2, b"\1"),
                          ber(0x43, b"\x10"), ber(0x30)))


def capture():
    cap = Capture()
    cap.udp("10.0.0.1", 4000, "10.0.0.2", 162, trap(b"\x2b\6\1\4\1\4\1\2\x15", "192.168.1.2"))
    cap.udp("10.0.0.1", 4001, "10.0.0.2", 162, trap(b"\x2b\6\1\4\1\x82\x37", "10.9.8.7"))
    other = ber(2, b"\1") + ber(2, b"\0") + ber(2, b"\0") + ber(0x30)
    cap.udp("10.0.0.1", 4002, "10.0.0.2", 162, message(1, ber(0xa7, other)))
    cap.udp("10.0.0.1", 4003, "10.0.0.2", 161, message(1, ber(0xa0, other)))
    return cap
