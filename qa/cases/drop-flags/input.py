# SPDX-License-Identifier: GPL-2.0-or-later
from pcapgen import Capture, TcpFlow


def capture():
    cap = Capture()
    flow = TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 80)
    flow.open()
    flow.to_server(b"GET /a HTTP/1.1\r\nHost: b\r\n\r\n")
    flow.to_client(b"HTTP/1.1 204 No\r\n\r\n")
    flow.close()
    cap.ip("10.0.0.1", "10.0.0.2", 1, b"\x08\0\0\0\0\1\0\2abcdefgh")
    cap.ip("2001:db8::1", "2001:db8::2", 58, b"\x80\0\0\0\0\1\0\2abcdefgh")
    return cap
