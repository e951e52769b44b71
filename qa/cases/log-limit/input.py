# SPDX-License-Identifier: GPL-2.0-or-later
"""Two floods of flows of one small packet, an hour apart; three rules match each. Last come flows
without alerts."""
from pcapgen import Capture


def capture():
    cap = Capture()
    for port in (1000, 2000):
        for i in range(400):
            cap.udp(f"10.0.{i % 3}.{i % 250}", port + i, "10.1.0.2", 9, b"x")
        cap.now += 3600
    for i in range(100):
        cap.udp("10.0.0.1", 3000 + i, "10.1.0.2", 8, b"x")
    return cap
