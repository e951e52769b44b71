# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls of operations 5, 11 and 15 over DCE/RPC, each answered."""
import struct

from pcapgen import Capture, TcpFlow

INTERFACE = bytes.fromhex("c84f324b7016d30112785a47bf6ee188")
SYNTAX = bytes.fromhex("045d888aeb1cc9119fe808002b104860")


def pdu(kind, call, body):
    return struct.pack("<BBBB4sHHI", 5, 0, kind, 3, b"\x10\0\0\0", 16 + len(body), 0, call) + body


def capture():
    cap = Capture()
    flow = TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 135)
    flow.open()
    flow.to_server(pdu(11, 1, struct.pack("<HHIBBHHBB", 4280, 4280, 0, 1, 0, 0, 0, 1, 0) +
                       INTERFACE + struct.pack("<HH", 3, 0) + SYNTAX + struct.pack("<HH", 2, 0)))
    flow.to_client(pdu(12, 1, struct.pack("<HHIH4sBBHHH", 4280, 4280, 1, 4, b"135\0", 1, 0, 0, 0,
                                          0) + SYNTAX + struct.pack("<HH", 2, 0)))
    for call, opnum in enumerate((5, 11, 15), 2):
        flow.to_server(pdu(0, call, struct.pack("<IHH", 8, 0, opnum) + b"argument"))
        flow.to_client(pdu(2, call, struct.pack("<IHBB", 8, 0, 0, 0) + b"response"))
    flow.close()
    return cap
