# SPDX-License-Identifier: GPL-2.0-or-later
from pcapgen import ACK, FIN, Capture, TcpFlow


def capture():
    """A client closes within its header; the server answers in the second flow only."""
    cap = Capture()
    for port, answer in ((40000, b""), (40001, b"HTTP/1.1 400 No\r\nContent-Length: 0\r\n\r\n")):
        flow = TcpFlow(cap, "10.0.0.1", port, "10.0.0.2", 80)
        flow.open()
        flow.to_server(b"GET / HTTP/1.1\r\nHost: a\r\nno colon\r\n")
        flow.send(0, FIN | ACK)
        flow.seq[0] += 1
        flow.send(1, ACK)
        if answer:
            flow.to_client(answer)
        flow.send(1, FIN | ACK)
        flow.seq[1] += 1
        flow.send(0, ACK)
    return cap
