# SPDX-License-Identifier: GPL-2.0-or-later
"""Handshake (3 packets), a request with its ACK, and a close (3 packets)."""
import pcapgen


def capture():
    cap = pcapgen.Capture()
    flow = pcapgen.TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 7777)
    flow.open()
    flow.to_server(b"x" * 100)
    flow.close()
    cap.udp("10.0.0.1", 4000, "10.0.0.2", 5000, b"no session")
    return cap
