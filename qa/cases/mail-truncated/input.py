# SPDX-License-Identifier: GPL-2.0-or-later
import base64

from pcapgen import ACK, PSH, Capture, TcpFlow

LINE = 57                       # bytes in a line of base64


def lines(content):
    return b"".join(base64.b64encode(content[at:at + LINE]) + b"\r\n"
                    for at in range(0, len(content), LINE))


def capture():
    cap = Capture()
    flow = TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 25)
    flow.open()
    flow.to_client(b"220 mail.example\r\n")
    for said, answer in ((b"EHLO a", b"250 mail.example"), (b"MAIL FROM:<a@a.example>", b"250 ok"),
                         (b"RCPT TO:<b@b.example>", b"250 ok"), (b"DATA", b"354 go on")):
        flow.to_server(said + b"\r\n")
        flow.to_client(answer + b"\r\n")
    flow.to_server(b"Subject: a disk\r\nMIME-Version: 1.0\r\n"
                   b"Content-Type: application/octet-stream; name=disk.img\r\n"
                   b"Content-Disposition: attachment; filename=disk.img\r\n"
                   b"Content-Transfer-Encoding: base64\r\n\r\n")
    # libmagic knows a file system by its bytes 1080 and 1081, which come with the second segment;
    # both are acknowledged before the client sends again
    disk = bytearray(b"start".ljust(LINE * 40, b"\0"))
    disk[0x438:0x43a] = b"\x53\xef"
    half = LINE * 12
    flow.send(0, PSH | ACK, lines(disk[:half]))
    flow.send(0, PSH | ACK, lines(disk[half:2 * half]))
    flow.seq[0] -= len(lines(disk[half:2 * half]))
    flow.send(1, ACK)
    flow.seq[0] += len(lines(disk[half:2 * half]))
    flow.send(1, ACK)
    # the last is never acknowledged, and the mail has no end
    flow.send(0, PSH | ACK, lines(disk[2 * half:]))
    return cap
