# SPDX-License-Identifier: GPL-2.0-or-later
"""The answer to CONNECT was not captured. What the client sends then is a tunnel's, also where it
comes in single bytes and begins as a method does, unless it is another request."""
from pcapgen import Capture, TcpFlow, http_request

TUNNELS = [b"\x16\x03\x01\x00\x05hello\n", b"GETTING ON\r\nwith it\r\n", b"PO\n"]
CONNECT = b"CONNECT mx.example.com:25 HTTP/1.1\r\nHost: mx.example.com:25\r\n\r\n"


def connect(cap, port, data, step):
    flow = TcpFlow(cap, "10.0.0.1", port, "10.0.0.2", 8080)
    flow.open()
    flow.to_server(CONNECT)
    flow.seq[1] += 39
    flow.to_client(b"\x00\x01 of the tunnel\n")
    for i in range(0, len(data), step):
        flow.to_server(data[i:i + step])
    flow.to_client(b"\x00\x02 of the tunnel\n")
    flow.close()


def capture():
    cap = Capture()
    for i, data in enumerate(TUNNELS):
        connect(cap, 40000 + i, data, len(data))
        connect(cap, 40010 + i, data, 1)
    connect(cap, 40020, http_request("a.example", "/next"), 1000)
    connect(cap, 40021, http_request("a.example", "/next"), 1)
    return cap
