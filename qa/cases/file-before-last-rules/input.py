# SPDX-License-Identifier: GPL-2.0-or-later
"""An answer to nothing, sent with the FIN: only the client's ACK follows it."""
from pcapgen import ACK, Capture, FIN, PSH, TcpFlow

ANSWER = b"HTTP/1.0 400 Bad request\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n<b>bad</b>\n"


def capture():
    cap = Capture()
    flow = TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 80)
    flow.open()
    flow.send(0, FIN | ACK)
    flow.send(1, FIN | PSH | ACK, ANSWER)
    flow.send(0, ACK)
    return cap
