# SPDX-License-Identifier: GPL-2.0-or-later
"""IPv6 packets of some hundred bytes with eight events each, from extension headers said twice."""
import struct

from pcapgen import Capture, MAC_A, MAC_B, address


def capture():
    cap = Capture()
    chain = b"".join(bytes([after, 0]) + b"\1\4\0\0\0\0" for after in (0, 0, 60, 60, 60, 43, 43, 60, 17))
    payload = chain + struct.pack(">HHHH", 4000, 4001, 8, 0)
    head = struct.pack(">IHBB", 6 << 28, len(payload), 0, 64) + address("2001:db8::1") + \
        address("2001:db8::2")
    for _ in range(1000):
        cap.frame(MAC_B + MAC_A + b"\x86\xdd" + head + payload)
    return cap
