# SPDX-License-Identifier: GPL-2.0-or-later
"""A word in three packets of a TCP connection and in three of UDP."""
from pcapgen import Capture, TcpFlow, http_request, http_response


def capture():
    cap = Capture()
    flow = TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 80)
    flow.open()
    for body in (b"", b"secret"):
        flow.to_server(http_request("x", "/secret"))
        flow.to_client(http_response(body))
    flow.close()
    for number in range(3):
        ends = ("10.0.0.1", 5000, "10.0.0.2", 6000)
        cap.udp(*(ends if number != 1 else ends[2:] + ends[:2]), b"a secret here")
    return cap
