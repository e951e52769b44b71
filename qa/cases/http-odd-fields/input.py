# SPDX-License-Identifier: GPL-2.0-or-later
from pcapgen import Capture, TcpFlow

CHUNKS = b"\r\n\r\n3\r\nabc\r\n0\r\n\r\n"


def capture():
    cap = Capture()
    for n, fields in enumerate((b"Authorization: Bearer\r\n\r\n",
                                b"Transfer-Encoding: gzip, Chunked" + CHUNKS,
                                b"Transfer-Encoding: xchunked" + CHUNKS,
                                b": value\r\n\r\n")):
        flow = TcpFlow(cap, "10.0.0.1", 40000 + n, "10.0.0.2", 80)
        flow.open()
        flow.to_server(b"POST / HTTP/1.1\r\nHost: a\r\n" + fields)
        flow.to_client(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
        flow.close()
    return cap
