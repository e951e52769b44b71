# SPDX-License-Identifier: GPL-2.0-or-later
from pcapgen import Capture


def capture():
    cap = Capture()
    cap.now = 2200000000.5
    cap.udp("10.0.0.1", 40001, "10.0.0.2", 9, b"later")
    return cap
