# SPDX-License-Identifier: GPL-2.0-or-later
"""Five lines of a client."""
from pcapgen import Capture, TcpFlow


def capture():
    cap = Capture()
    flow = TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 4000)
    flow.open()
    for i in range(5):
        flow.to_server(b"line %d\n" % i)
    return cap
