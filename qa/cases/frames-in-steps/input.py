# SPDX-License-Identifier: GPL-2.0-or-later
from pcapgen import ACK, PSH, Capture, TcpFlow

REQUEST = b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n"


def head(length):
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % length


def capture():
    cap = Capture()
    flow = TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 80)
    flow.open()
    flow.to_server(REQUEST)
    flow.to_client(head(108) + b"head" + b"." * 50)
    flow.seq[1] += 20
    flow.send(1, PSH | ACK, b"." * 30 + b"tail")
    flow.send(0, ACK)
    flow.to_server(REQUEST)
    flow.to_client(head(9000) + b"again" + b"." * 8980 + b"again" + b"." * 10)
    flow.close()
    return cap
