# SPDX-License-Identifier: GPL-2.0-or-later
"""Mails by DATA and by BDAT, a session without one; HTTP/2 with a body."""
import struct

from pcapgen import Capture, TcpFlow


def frame(kind, flags, stream, payload):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def session(cap, port, *commands):
    flow = TcpFlow(cap, "10.0.0.1", port, "10.0.0.2", 25)
    flow.open()
    flow.to_client(b"220 a ESMTP\r\n")
    for command, reply in ((b"HELO b\r\n", b"250 a\r\n"),) + commands:
        flow.to_server(command)
        flow.to_client(reply)
    flow.close()


ENVELOPE = ((b"MAIL FROM:<a@b>\r\n", b"250 ok\r\n"), (b"RCPT TO:<c@d>\r\n", b"250 ok\r\n"))


def capture():
    cap = Capture()
    session(cap, 40000, *ENVELOPE, (b"DATA\r\n", b"354 go\r\n"),
            (b"Subject: x\r\n\r\ny\r\n.\r\n", b"250 ok\r\n"))
    session(cap, 40001, *ENVELOPE, (b"BDAT 4 LAST\r\ny\r\n\n", b"250 ok\r\n"))
    session(cap, 40002, *ENVELOPE)
    flow = TcpFlow(cap, "10.0.0.1", 40003, "10.0.0.2", 80)
    flow.open()
    flow.to_server(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, b""))
    flow.to_client(frame(4, 0, 0, b""))
    flow.to_server(frame(1, 4, 1, b"\x83\x84\x86"))         # POST / without END_STREAM
    flow.to_server(frame(6, 0, 0, b"ping1234"))
    flow.to_server(frame(0, 0, 1, b"abc"))
    flow.to_server(frame(0, 1, 1, b"def"))
    flow.to_server(frame(8, 0, 1, struct.pack(">I", 100)))  # may follow the stream's end
    flow.to_client(frame(1, 4, 1, b"\x88"))                 # 200
    flow.to_client(frame(0, 1, 1, b"ghi"))
    flow.close()
    return cap
