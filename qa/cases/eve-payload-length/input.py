# SPDX-License-Identifier: GPL-2.0-or-later
from pcapgen import Capture, TcpFlow


def capture():
    """A frame of an unknown protocol, and a request whose answer is no HTTP."""
    cap = Capture()
    cap.frame(b"\x02\0\0\0\0\1\x02\0\0\0\0\2\x88\xff" + bytes(46))
    flow = TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 80)
    flow.open()
    flow.to_server(b"GET /a HTTP/1.1\r\nHost: b\r\n\r\n")
    flow.to_client(b"\0" * 40)
    flow.close()
    return cap
