# SPDX-License-Identifier: GPL-2.0-or-later
from pcapgen import Capture, TcpFlow


def capture():
    """Lines that are no status line: alone in a segment, in two, and before a status line."""
    cap = Capture()
    for port, parts in ((40000, (b"SSH-2.0-x\r\n", b"HTTP/1.1 204 No\r\n\r\n")),
                        (40001, (b"SSH-", b"2.0-x\r\n", b"HTTP/1.1 204 No\r\n\r\n")),
                        (40002, (b"SSH-2.0-x\r\nHTTP/1.1 204 No\r\n\r\n",))):
        flow = TcpFlow(cap, "10.0.0.1", port, "10.0.0.2", 80)
        flow.open()
        flow.to_server(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        for part in parts:
            flow.to_client(part)
        flow.close()
    return cap
