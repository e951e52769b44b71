# SPDX-License-Identifier: GPL-2.0-or-later
"""A mail to 60 recipients, each in a packet of its own, with 400 attachments in packets of ten."""
from pcapgen import Capture, TcpFlow


def attachment(number):
    return (b"--b\r\nContent-Disposition: attachment; filename=file%d.txt\r\n\r\ncontent %d.\r\n"
            % (number, number))


def capture():
    cap = Capture()
    flow = TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 25)
    flow.open()
    flow.to_client(b"220 mail.example ESMTP\r\n")
    flow.to_server(b"HELO client\r\n")
    flow.to_client(b"250 hello\r\n")
    flow.to_server(b"MAIL FROM:<a@example.org>\r\n")
    flow.to_client(b"250 ok\r\n")
    for i in range(60):
        flow.to_server(b"RCPT TO:<user%d@example.org>\r\n" % i)
        flow.to_client(b"250 ok\r\n")
    flow.to_server(b"DATA\r\n")
    flow.to_client(b"354 go\r\n")
    flow.to_server(b"Subject: many\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n")
    for i in range(0, 400, 10):
        flow.to_server(b"".join(attachment(j) for j in range(i, i + 10)))
    flow.to_server(b"--b--\r\n.\r\n")
    flow.to_client(b"250 taken\r\n")
    flow.to_server(b"QUIT\r\n")
    flow.to_client(b"221 bye\r\n")
    flow.close()
    return cap
