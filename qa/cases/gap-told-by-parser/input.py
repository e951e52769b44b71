# SPDX-License-Identifier: GPL-2.0-or-later
"""A hole in an answer: of HTTP, of a protocol that has no parser, and twice behind an answer at which
the HTTP parser gives up: in the packet that acknowledges that answer and in a later one."""
from pcapgen import ACK, Capture, TcpFlow, http_request


def hole(cap, port, request, answer):
    flow = TcpFlow(cap, "10.0.0.1", port, "10.0.0.2", 80)
    flow.open()
    flow.to_server(request)
    flow.to_client(answer)
    flow.seq[1] += 100
    flow.to_client(b"behind the hole")
    flow.close()


def hole_behind_failure(cap, port):
    flow = TcpFlow(cap, "10.0.0.1", port, "10.0.0.2", 80)
    flow.open()
    flow.to_server(http_request("a.example", "/"))
    flow.send(1, ACK, b"HTTP/1.1 206 Partial Content\r\nContent-Type: multipart/byteranges\r\n\r\n")
    for _ in range(2):
        flow.seq[1] += 100
        flow.send(1, ACK, b"behind the hole")
        flow.send(0, ACK)
    flow.close()


def capture():
    cap = Capture()
    hole(cap, 40000, http_request("a.example", "/"), b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nbody")
    hole(cap, 40001, b"\x01\x02\x03\x04" * 300, b"\x05\x06\x07\x08" * 300)
    hole_behind_failure(cap, 40002)
    return cap
