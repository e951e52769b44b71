# SPDX-License-Identifier: GPL-2.0-or-later
"""The same datagram twice: alone, and in a flow that has sent a hundred times its bytes."""
from pcapgen import Capture


def capture():
    cap = Capture()
    data = b"a" * 50 + b"xb"
    cap.udp("10.0.0.1", 40000, "10.0.0.2", 9999, data)
    for _ in range(10):
        cap.udp("10.0.0.1", 40001, "10.0.0.2", 9999, b"c" * 1400)
    cap.udp("10.0.0.1", 40001, "10.0.0.2", 9999, data)
    return cap
