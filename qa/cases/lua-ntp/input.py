# SPDX-License-Identifier: GPL-2.0-or-later
from pcapgen import Capture


def capture():
    cap = Capture()
    for port, mode in ((40000, 3), (40001, 1)):
        head = bytes([4 << 3 | mode, 2, 6, 0xe8]) + bytes(8) + b"abcd"
        cap.udp("10.0.0.1", port, "10.0.0.2", 123, head + bytes(32))
    return cap
