# SPDX-License-Identifier: GPL-2.0-or-later
"""Two mails over one connection."""
from pcapgen import Capture, TcpFlow


def capture():
    cap = Capture()
    flow = TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 25)
    flow.open()
    flow.to_client(b"220 mail.example ESMTP\r\n")
    flow.to_server(b"HELO client\r\n")
    flow.to_client(b"250 hello\r\n")
    for text in (b"a letter\r\nof two lines\r\n", b"another letter\r\n"):
        for line, reply in ((b"MAIL FROM:<a@example.org>\r\n", b"250 ok\r\n"),
                            (b"RCPT TO:<b@example.org>\r\n", b"250 ok\r\n"),
                            (b"DATA\r\n", b"354 go\r\n"),
                            (b"From: a@example.org\r\nSubject: letter\r\n\r\n" + text + b".\r\n",
                             b"250 taken\r\n")):
            flow.to_server(line)
            flow.to_client(reply)
    flow.to_server(b"QUIT\r\n")
    flow.to_client(b"221 bye\r\n")
    flow.close()
    return cap
