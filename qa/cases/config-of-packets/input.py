# SPDX-License-Identifier: GPL-2.0-or-later
"""Two requests, each on a connection of its own."""
from pcapgen import Capture, TcpFlow, http_request, http_response


def capture():
    cap = Capture()
    for port, host in ((40000, "a.example"), (40001, "b.example")):
        flow = TcpFlow(cap, "10.0.0.1", port, "10.0.0.2", 80)
        flow.open()
        flow.to_server(http_request(host, "/"))
        flow.to_client(http_response(b"hello"))
        flow.close()
    return cap
