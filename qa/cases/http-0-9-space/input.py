# SPDX-License-Identifier: GPL-2.0-or-later
from pcapgen import Capture, TcpFlow


def capture():
    cap = Capture()
    for more in range(2):
        flow = TcpFlow(cap, "10.0.0.1", 40000 + more, "10.0.0.2", 80)
        flow.open()
        flow.to_server(b"GET /spaces\r\n" + b" \n" * 8 + b"\n" * more)
        flow.to_client(b"a body")
        flow.close()
    return cap
