# SPDX-License-Identifier: GPL-2.0-or-later
"""A mail client that asks for TLS, and then falls silent."""
from pcapgen import Capture, TcpFlow


def capture():
    cap = Capture()
    flow = TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 25)
    flow.open()
    flow.to_client(b"220 mail.example.org ESMTP\r\n")
    flow.to_server(b"EHLO client.example.org\r\n")
    flow.to_client(b"250-mail.example.org\r\n250 STARTTLS\r\n")
    flow.to_server(b"STARTTLS\r\n")
    flow.to_client(b"220 Go ahead\r\n")
    return cap
