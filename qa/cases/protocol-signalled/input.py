# SPDX-License-Identifier: GPL-2.0-or-later
from pcapgen import ACK, PSH, Capture, TcpFlow, dns_query


def capture():
    cap = Capture()
    flow = TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 2200)
    flow.open()
    flow.send(1, PSH | ACK, b"SSH-2.0-server\r\n")
    flow.send(0, PSH | ACK, b"SSH-2.0-client\r\n")
    flow.send(1, ACK)
    flow.send(0, ACK)
    flow.send(1, ACK)
    flow.close()
    for _ in range(2):
        cap.udp("10.0.0.1", 40001, "10.0.0.2", 53, dns_query(1, "a.example"))
    return cap
