# SPDX-License-Identifier: GPL-2.0-or-later
from pcapgen import Capture, TcpFlow


def capture():
    cap = Capture()
    flow = TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 9999, mss=1000)
    flow.open()
    flow.to_server(b"x" * 20000)
    flow.close()
    return cap
