# SPDX-License-Identifier: GPL-2.0-or-later
"""Requests whose paths make regular expressions and chains of contents try without end, and one that
does not."""
from pcapgen import Capture, TcpFlow


def capture():
    cap = Capture()
    for port, path in ((40000, b"a" * 60 + b"b"), (40001, b"x" + b"k" * 300), (40002, b"plain")):
        flow = TcpFlow(cap, "10.0.0.1", port, "10.0.0.2", 80)
        flow.open()
        flow.to_server(b"GET /" + path + b" HTTP/1.1\r\nHost: a.example\r\n\r\n")
        flow.to_client(b"HTTP/1.1 204 No Content\r\n\r\n")
        flow.close()
    return cap
