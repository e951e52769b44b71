# SPDX-License-Identifier: GPL-2.0-or-later
"""Two POST requests: one whose body begins with the byte it is encoded with, one in clear."""
from pcapgen import Capture, TcpFlow, http_request, http_response


def capture():
    cap = Capture()
    flow = TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 80)
    flow.open()
    for body in (b"\x5a" + bytes(b ^ 0x5a for b in b"the host is infected"), b"\0infected"):
        flow.to_server(http_request("example.org", "/", method="POST", body=body))
        flow.to_client(http_response(b"ok"))
    flow.close()
    return cap
