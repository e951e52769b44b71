# SPDX-License-Identifier: GPL-2.0-or-later
"""A request whose path makes a regular expression try without end."""
from pcapgen import Capture, TcpFlow


def capture():
    cap = Capture()
    flow = TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 80)
    flow.open()
    flow.to_server(b"GET /" + b"a" * 60 + b"b HTTP/1.1\r\nHost: a.example\r\n\r\n")
    flow.to_client(b"HTTP/1.1 204 No Content\r\n\r\n")
    flow.close()
    return cap
