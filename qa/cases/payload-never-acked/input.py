# SPDX-License-Identifier: GPL-2.0-or-later
"""Answers of which the client acknowledges all, the first part and nothing before the capture ends."""
from pcapgen import ACK, Capture, PSH, TcpFlow, http_request

HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nfirst "


def capture():
    cap = Capture()
    for port, acks in ((40000, 2), (40001, 1), (40002, 0)):
        flow = TcpFlow(cap, "10.0.0.1", port, "10.0.0.2", 80)
        flow.open()
        flow.to_server(http_request("a.example", "/"))
        for part in range(2):
            flow.send(1, PSH | ACK, b"needle" if part == 1 else HEAD)
            if part < acks:
                flow.send(0, ACK)
    return cap
