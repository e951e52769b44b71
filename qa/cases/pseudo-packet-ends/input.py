# SPDX-License-Identifier: GPL-2.0-or-later
from pcapgen import Capture, TcpFlow


def in_gre(cap, inner):
    for _, frame in inner.frames:
        cap.ip("192.0.2.1", "192.0.2.2", 47, b"\0\0\x08\0" + frame[14:])


def capture():
    cap, inner = Capture(), Capture()
    for at, port, client, server in ((cap, 40000, "10.0.0.1", "10.0.0.2"),
                                     (cap, 40001, "2001:db8::1", "2001:db8::2"),
                                     (inner, 40002, "10.0.0.3", "10.0.0.4")):
        flow = TcpFlow(at, client, port, server, 80)
        flow.open()
        flow.to_server(b"GET /f HTTP/1.1\r\nHost: a\r\n\r\n")
        flow.to_client(b"HTTP/1.1 200 OK\r\n\r\nneedle")
    in_gre(cap, inner)
    return cap
