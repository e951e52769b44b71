# SPDX-License-Identifier: GPL-2.0-or-later
from pcapgen import Capture, TcpFlow, http_request, http_response

REQUEST = http_request("a.example", "/first", headers=["Mark: mark-1111", "Later: x"])
ANSWER = http_response(b"thanks", headers=("Server: s", "Set-Cookie: a=b"))


def capture():
    """A connection for each fourth byte at which request and response can be cut."""
    cap = Capture()
    for cut in range(1, min(len(REQUEST), len(ANSWER)), 4):
        flow = TcpFlow(cap, "10.0.0.1", 40000 + cut, "10.0.0.2", 80)
        flow.open()
        flow.to_server(REQUEST[:cut])
        flow.to_server(REQUEST[cut:])
        flow.to_client(ANSWER[:cut])
        flow.to_client(ANSWER[cut:])
        flow.close()
    return cap
