# SPDX-License-Identifier: GPL-2.0-or-later
"""The first line of a mail server has no end. Port 40001: it comes in two segments."""
from pcapgen import Capture, TcpFlow


def mail(cap, port, *greeting):
    flow = TcpFlow(cap, "10.0.0.1", port, "10.0.0.2", 25)
    flow.open()
    for part in greeting:
        flow.to_client(part)
    for command, reply in ((b"EHLO c.example", b"250 ok"), (b"MAIL FROM: <a@b.example>", b"250 ok"),
                           (b"QUIT", b"221 bye")):
        flow.to_server(command + b"\r\n")
        flow.to_client(reply + b"\r\n")
    flow.close()


def capture():
    cap = Capture()
    mail(cap, 40000, b"220 mail.example.com ESMTP AAAAAAAAA")
    mail(cap, 40001, b"220 mail.exa", b"mple.com ESMTP\r\n")
    return cap
