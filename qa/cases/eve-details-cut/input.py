# SPDX-License-Identifier: GPL-2.0-or-later
"""A flow of many small packets that all raise an alert, and one of few."""
from pcapgen import Capture


def capture():
    cap = Capture()
    for port, count in ((40000, 600), (40001, 20)):
        for _ in range(count):
            cap.udp("10.0.0.1", port, "10.0.0.2", 9, b"x")
    return cap
