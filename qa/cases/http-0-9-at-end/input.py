# SPDX-License-Identifier: GPL-2.0-or-later
"""A client sends words without a line end, and a server of HTTP answers them."""
from pcapgen import Capture, TcpFlow, http_response


def capture():
    cap = Capture()
    flow = TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 80)
    flow.open()
    flow.to_server(b"1026 !34.21")
    flow.to_client(http_response(b"bad"))
    flow.close()
    return cap
