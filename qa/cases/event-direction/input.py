# SPDX-License-Identifier: GPL-2.0-or-later
from pcapgen import Capture, TcpFlow

BAD_MSS = b"\2\3\0\0"


def capture():
    """Two packets of the client and one of the server with an option of a wrong length."""
    cap = Capture()
    flow = TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 80)
    flow.open()
    for side in (0, 0, 1):
        flow.send(side, 0x18, b"data", BAD_MSS)
    flow.close()
    return cap
