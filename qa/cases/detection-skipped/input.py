# SPDX-License-Identifier: GPL-2.0-or-later
"""A server of no known protocol sends more than waits for a client that is silent."""
from pcapgen import Capture, TcpFlow


def capture():
    cap = Capture()
    flow = TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 50000)
    flow.open()
    flow.to_client(b"\xf0\xf1" * 60000)
    flow.close()
    return cap
