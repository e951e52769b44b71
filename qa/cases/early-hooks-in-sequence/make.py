# SPDX-License-Identifier: GPL-2.0-or-later
"""make.py FILE: flows of 12 hosts to one, their packets mixed."""
import random
import sys

import pcapgen

cap, rng = pcapgen.Capture(), random.Random(3)
flows = [pcapgen.TcpFlow(cap, f"10.0.{i}.1", 40000 + i, "10.9.9.9", 7777) for i in range(12)]
for flow in flows:
    flow.open()
for _ in range(400):
    rng.choice(flows).send(0, pcapgen.PSH | pcapgen.ACK, b"x" * rng.randint(1, 5))
cap.write(sys.argv[1])
