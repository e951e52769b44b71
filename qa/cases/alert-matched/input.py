# SPDX-License-Identifier: GPL-2.0-or-later
"""Two requests on one connection, a datagram, and a connection with a gap."""
from pcapgen import ACK, PSH, Capture, TcpFlow


def capture():
    cap = Capture()
    flow = TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 80)
    flow.open()
    flow.to_server(b"POST /login?user=admin HTTP/1.1\r\nHost: a.example\r\nContent-Length: 22\r\n\r\n"
                   b"user=admin&pass=s3cret")
    flow.to_client(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
    flow.to_server(b"GET /second?user=bob HTTP/1.1\r\nHost: b.example\r\n\r\n")
    flow.to_client(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nworld")
    flow.close()
    cap.udp("10.0.0.1", 5000, "10.0.0.2", 6000, b"\x00\x07number|data: aGVsbG8gd29ybGQ=")
    gap = TcpFlow(cap, "10.0.0.1", 40001, "10.0.0.2", 7777)
    gap.open()
    gap.send(0, PSH | ACK, b"st, VERY")
    gap.seq[0] += 4
    gap.send(0, PSH | ACK, b"DATA")
    gap.send(1, ACK, b"")
    gap.close()
    return cap
