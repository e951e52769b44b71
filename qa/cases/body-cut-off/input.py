# SPDX-License-Identifier: GPL-2.0-or-later
import gzip

from pcapgen import Capture, TcpFlow

CLOSE, RESET, NOTHING = range(3)
BODY = b"x" * 100
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"
EMPTY = gzip.compress(b"", mtime=0)


def announced(size):
    return b"Content-Length: %d\r\n\r\n" % size + BODY


# (fields and body, how the connection ends)
ANSWERS = [(announced(100), CLOSE), (announced(1000), CLOSE), (announced(1000), RESET),
           (announced(1000), NOTHING), (b"\r\n" + BODY, CLOSE),
           (CHUNKED + b"100\r\n" + BODY, CLOSE), (CHUNKED + b"64\r\n" + BODY + b"\r\n", CLOSE),
           (b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(EMPTY) + EMPTY, CLOSE)]


def capture():
    cap = Capture()
    for i, (answer, end) in enumerate(ANSWERS):
        flow = TcpFlow(cap, "10.0.0.1", 40000 + i, "10.0.0.2", 80)
        flow.open()
        flow.to_server(b"GET /f HTTP/1.1\r\nHost: a\r\n\r\n")
        flow.to_client(b"HTTP/1.1 200 OK\r\n" + answer)
        if end == CLOSE:
            flow.close(1)
        elif end == RESET:
            flow.reset()
    return cap
