# SPDX-License-Identifier: GPL-2.0-or-later
"""make.py COUNT FILE: so many flows of one packet, and long after them a query."""
import sys

from pcapgen import Capture, dns_query

cap = Capture()
for n in range(int(sys.argv[1])):
    cap.udp("10.0.0.1", 20000 + n, "10.0.0.2", 9999, b"hello")
cap.wait(1000)
cap.udp("10.0.0.1", 40000, "10.0.0.2", 53, dns_query(1, "late.example"))
cap.write(sys.argv[2])
