# SPDX-License-Identifier: GPL-2.0-or-later
"""A host tries 13 ports of another, the first five of them three times; a third asks one port often."""
from pcapgen import SYN, Capture


def capture():
    cap = Capture()
    for n in range(3):
        for port in range(1, 6):
            cap.tcp("10.0.0.1", 40000 + 10 * n + port, "10.0.0.2", port, 1000, 0, SYN)
    for port in range(6, 14):
        cap.tcp("10.0.0.1", 40100 + port, "10.0.0.2", port, 1000, 0, SYN)
    for n in range(30):
        cap.tcp("10.0.0.3", 41000 + n, "10.0.0.4", 80, 1000, 0, SYN)
    return cap
