# SPDX-License-Identifier: GPL-2.0-or-later
from pcapgen import Capture, address


def capture():
    cap = Capture()
    a, b = b"\2\0\0\0\0\1", b"\2\0\0\0\0\2"
    cap.frame(b + a + b"\x08\x06" + bytes([0, 1, 8, 0, 6, 4, 0, 1]) + a + address("10.0.0.1") + b +
              address("10.0.0.2") + bytes(18))
    return cap
