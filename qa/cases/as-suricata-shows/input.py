# SPDX-License-Identifier: GPL-2.0-or-later
from pcapgen import ACK, Capture, PSH, TcpFlow, http_request

TRAILER = (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
           b"2\r\nhi\r\n0\n\r\r\n")


def exchange(cap, port, answer, path="/"):
    flow = TcpFlow(cap, "10.0.0.1", port, "10.0.0.2", 80)
    flow.open()
    flow.to_server(http_request("a.example", path))
    flow.to_client(answer)
    return flow


def failed_tunnel(cap, port):
    """Nothing follows CONNECT that could be recognised."""
    flow = TcpFlow(cap, "10.0.0.1", port, "10.0.0.2", 80)
    flow.open()
    flow.to_server(b"CONNECT b.example:443 HTTP/1.1\r\nHost: b.example:443\r\n\r\n")
    flow.to_client(b"HTTP/1.1 200 OK\r\n\r\n")
    flow.to_client(b"hello")
    flow.close()


def half_list(cap, port):
    """The capture ends within the reply to LIST."""
    flow = TcpFlow(cap, "10.0.0.1", port, "10.0.0.2", 110)
    flow.open()
    flow.to_client(b"+OK ready\r\n")
    flow.to_server(b"USER a\r\n")
    flow.to_client(b"+OK\r\n")
    flow.to_server(b"LIST\r\n")
    flow.to_client(b"+OK 2 messages\r\n1 120\r\n")


def capture():
    cap = Capture()
    for port, answer in ((40000, b"HTTP/1.1 200 OK\n\n\n"), (40001, b"HTTP/1.1 200 OK\n\nbody"),
                         (40002, TRAILER)):
        exchange(cap, port, answer).close()
    flow = exchange(cap, 40003, b"words that a status line may follow, and no end of a line")
    flow.send(1, PSH | ACK, b"\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    flow.send(0, ACK)
    flow.close()
    failed_tunnel(cap, 40004)
    half_list(cap, 40005)
    return cap
