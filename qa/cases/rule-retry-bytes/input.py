# SPDX-License-Identifier: GPL-2.0-or-later
"""A body in which each place is a beginning, and what has to follow is nowhere."""
from pcapgen import Capture, TcpFlow, http_request, http_response


def capture():
    cap = Capture()
    for port, body in ((40000, b"a" * 300000), (40001, b"a" * 100 + b"bq")):
        flow = TcpFlow(cap, "10.0.0.1", port, "10.0.0.2", 80)
        flow.open()
        flow.to_server(http_request("a.example", "/"))
        flow.to_client(http_response(body))
        flow.close()
    return cap
