# SPDX-License-Identifier: GPL-2.0-or-later
from pcapgen import Capture, TcpFlow


def response(cap, port, headers):
    flow = TcpFlow(cap, "10.0.0.1", port, "10.0.0.2", 80)
    flow.open()
    flow.to_server(b"GET /a HTTP/1.1\r\nHost: example\r\n\r\n")
    flow.to_client(b"HTTP/1.1 200 OK\r\n" + headers + b"Transfer-Encoding: chunked\r\n\r\n"
                   b"5\r\nbegin\r\n")
    flow.to_client(b"5\r\nagain\r\n")
    flow.to_client(b"5\r\nthird\r\n")
    flow.to_client(b"0\r\nX-Late: 2\r\n\r\n")
    flow.close()


def capture():
    cap = Capture()
    response(cap, 40000, b"X-One: 1\r\n")
    response(cap, 40001, b"")
    return cap
