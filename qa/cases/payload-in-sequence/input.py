# SPDX-License-Identifier: GPL-2.0-or-later
from pcapgen import Capture, TcpFlow


def capture():
    cap = Capture()
    flow = TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 80)
    flow.open()
    for path, line in (("a", "X-One: first"), ("b", "X-Two: second"), ("c", "X-Two: third")):
        flow.to_server(f"GET /{path} HTTP/1.1\r\nHost: example.org\r\n{line}\r\n\r\n".encode())
        flow.to_client(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    flow.close()
    return cap
