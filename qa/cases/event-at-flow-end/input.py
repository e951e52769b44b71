# SPDX-License-Identifier: GPL-2.0-or-later
import struct
from pcapgen import Capture, TcpFlow


def client_hello():
    body = b"\3\3" + bytes(32) + b"\0" + b"\0\2\xc0\x2f" + b"\1\0"
    message = b"\1" + struct.pack(">I", len(body))[1:] + body
    return b"\x16\3\1" + struct.pack(">H", len(message)) + message


def capture():
    cap = Capture()
    flow = TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 443)
    flow.open()
    flow.to_server(client_hello())
    flow.to_client(bytes.fromhex("00000000020028"))     # no record, and too few bytes to know that
    flow.close()
    return cap
