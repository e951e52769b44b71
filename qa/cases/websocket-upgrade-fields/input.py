# SPDX-License-Identifier: GPL-2.0-or-later
from pcapgen import Capture, TcpFlow

REPEATED = b"".join(b"Access-Control-Allow-Headers: x-websocket-%d\r\n" % i for i in range(5))
UPGRADE = b"Connection: Upgrade\r\nUpgrade: websocket\r\n"


def flow_of(cap, port, answer):
    flow = TcpFlow(cap, "10.0.0.1", port, "10.0.0.2", 80)
    flow.open()
    flow.to_server(b"GET /echo HTTP/1.1\r\nHost: example.org\r\n" + UPGRADE + b"\r\n")
    flow.to_client(answer)
    flow.to_client(b"\x81\4text")
    flow.close()


def capture():
    cap = Capture()
    flow_of(cap, 40000, b"HTTP/1.1 101 Switching Protocols\r\n" + UPGRADE + REPEATED + b"\r\n")
    flow_of(cap, 40001, b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n" + REPEATED + b"\r\n")
    return cap
