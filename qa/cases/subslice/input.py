# SPDX-License-Identifier: GPL-2.0-or-later
"""Requests with agents and paths of several lengths."""
from pcapgen import Capture, TcpFlow, http_request, http_response


def capture():
    cap = Capture()
    flow = TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 80)
    flow.open()
    for path, agent in (("/index.php", "curl/7.64.1"), ("/index.php4", "my curl"), ("/", "cu")):
        flow.to_server(http_request("example.org", path, agent=agent))
        flow.to_client(http_response(b"ok"))
    flow.close()
    return cap
