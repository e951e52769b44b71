# SPDX-License-Identifier: GPL-2.0-or-later
"""One body of which many alerts tell, and one of which few do."""
from pcapgen import Capture, TcpFlow, http_request, http_response


def capture():
    cap = Capture()
    for port, body in ((40000, b"bcdefghijk" * 2000), (40001, b"b" * 500)):
        flow = TcpFlow(cap, "10.0.0.1", port, "10.0.0.2", 80)
        flow.open()
        flow.to_server(http_request("a.example", "/"))
        flow.to_client(http_response(body))
        flow.close()
    return cap
