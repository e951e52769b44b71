# SPDX-License-Identifier: GPL-2.0-or-later
"""A segment that the stream engine refuses comes between the end of a file and the next segment."""
from pcapgen import ACK, Capture, FIN, PSH, TcpFlow, http_request, http_response


def capture():
    cap = Capture()
    flow = TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 80)
    flow.open()
    flow.to_server(http_request("a.example", "/f"))
    answer = http_response(b"body")
    again = flow.seq[1]
    flow.to_client(answer)
    flow.send(0, FIN | ACK)
    cap.tcp("10.0.0.2", 80, "10.0.0.1", 40000, again, flow.seq[0], PSH | ACK, answer)
    flow.send(1, ACK)
    flow.send(1, FIN | ACK)
    flow.send(0, ACK)
    return cap
