# SPDX-License-Identifier: GPL-2.0-or-later
from pcapgen import Capture, TcpFlow

CLOSE, RESET, NOTHING = range(3)
# (bytes announced; 0: none, how the connection ends)
ANSWERS = [(100, CLOSE), (1000, CLOSE), (1000, RESET), (1000, NOTHING), (0, CLOSE)]


def capture():
    cap = Capture()
    for i, (size, end) in enumerate(ANSWERS):
        flow = TcpFlow(cap, "10.0.0.1", 40000 + i, "10.0.0.2", 80)
        flow.open()
        flow.to_server(b"GET /f HTTP/1.1\r\nHost: a\r\n\r\n")
        announced = b"Content-Length: %d\r\n" % size if size else b""
        flow.to_client(b"HTTP/1.1 200 OK\r\n" + announced + b"\r\n" + b"x" * 100)
        if end == CLOSE:
            flow.close(1)
        elif end == RESET:
            flow.reset()
    return cap
