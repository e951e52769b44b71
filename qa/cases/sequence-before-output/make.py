# SPDX-License-Identifier: GPL-2.0-or-later
"""make.py FILE: 4,000 flows, one in fifty with a request that is not acknowledged, and so is looked
at when the flow ends."""
import sys

import pcapgen

cap = pcapgen.Capture()
for i in range(4000):
    flow = pcapgen.TcpFlow(cap, f"10.0.{i >> 8}.{i & 255}", 40000, "10.9.9.9", 80)
    flow.open()
    if i % 50 == 0:
        flow.send(0, pcapgen.PSH | pcapgen.ACK, pcapgen.http_request("a.example", f"/{i}"))
cap.write(sys.argv[1])
