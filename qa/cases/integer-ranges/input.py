# SPDX-License-Identifier: GPL-2.0-or-later
"""Echo requests, and SYNs with numbers and windows."""
import struct

from pcapgen import SYN, Capture, checksum


def capture():
    cap = Capture()
    for ident in (1, 300, 301, 400):
        body = struct.pack(">BBHHH", 8, 0, 0, ident, ident + 1)
        cap.ip("10.0.0.1", "10.0.0.2", 1, body[:2] + struct.pack(">H", checksum(body)) + body[4:])
    for port, seq, window in ((4000, 100, 0), (4001, 2000, 1024), (4002, 0xffffffff, 65535)):
        cap.tcp("10.0.0.1", port, "10.0.0.2", 7777, seq, 7 * (port - 4000), SYN, window=window)
    return cap
