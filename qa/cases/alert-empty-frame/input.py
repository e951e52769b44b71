# SPDX-License-Identifier: GPL-2.0-or-later
from pcapgen import Capture


def capture():
    cap = Capture()
    cap.frame(b"")
    cap.udp("10.0.0.1", 0, "10.0.0.2", 53, b"payload")
    cap.udp("10.0.0.3", 53, "10.0.0.4", 0, b"payload")
    return cap
