# SPDX-License-Identifier: GPL-2.0-or-later
from pcapgen import Capture, TcpFlow

SETTINGS = b"\0\0\0\4\0\0\0\0\0"


def capture():
    cap = Capture()
    flow = TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 80)
    flow.open()
    flow.to_server(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + SETTINGS)
    flow.to_client(SETTINGS)
    flow.close()
    return cap
