# SPDX-License-Identifier: GPL-2.0-or-later
"""Three requests; the first sets a flowbit by its URI. The third answer differs."""
from pcapgen import Capture, TcpFlow


def capture():
    cap = Capture()
    flow = TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 80)
    flow.open()
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n"
    flow.to_server(b"POST /first HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody")
    flow.to_client(answer + b"answer")
    flow.to_server(b"GET /second HTTP/1.1\r\nHost: a\r\n\r\n")
    flow.to_client(answer + b"answer")
    flow.to_server(b"GET /third HTTP/1.1\r\nHost: body\r\n\r\n")
    flow.to_client(answer + b"nothin")
    flow.close()
    return cap
