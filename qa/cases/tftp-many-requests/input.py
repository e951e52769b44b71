# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads of 17,000 files from one port; the server responds from others, so never in this flow."""
from pcapgen import Capture


def capture():
    cap = Capture()
    for n in range(17000):
        cap.udp("10.0.0.1", 5000, "10.0.0.2", 69, b"\0\1file%d\0octet\0" % n)
    return cap
