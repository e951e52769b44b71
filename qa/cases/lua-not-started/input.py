# SPDX-License-Identifier: GPL-2.0-or-later
from pcapgen import Capture


def capture():
    cap = Capture()
    cap.udp("10.0.0.1", 40000, "10.0.0.2", 9999, b"x")
    return cap
