# SPDX-License-Identifier: GPL-2.0-or-later
from pcapgen import Capture, TcpFlow


def capture():
    cap = Capture()
    flow = TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 21)
    flow.open()
    flow.to_client(b"220 ready\r\n")
    for line in (b"XPWD\r\n", b"CWD dir\r\n"):
        flow.to_server(line)
        flow.to_client(b"250 done\r\n")
    flow.close()
    return cap
