# SPDX-License-Identifier: GPL-2.0-or-later
"""HTTP/2: a header of 60,000 bytes, and 500 streams that name it 17 times each, a byte a time."""
import struct

from pcapgen import Capture, TcpFlow


def frame(kind, flags, stream, payload):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def capture():
    cap = Capture()
    flow = TcpFlow(cap, "10.0.0.1", 40000, "10.9.0.1", 80)
    flow.open()
    # The table may have 65,536 bytes; :method, :path, :scheme; x: vvv...
    block = b"\x3f\xe1\xff\x03\x82\x84\x86\x40\x01x\x7f\xe1\xd3\x03" + b"v" * 60000
    parts = [block[at:at + 16000] for at in range(0, len(block), 16000)]
    data = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, b"")
    for i, part in enumerate(parts):
        last = 4 if i == len(parts) - 1 else 0
        data += frame(9 if i else 1, last if i else 1, 1, part)
    for i in range(500):
        data += frame(1, 5, 3 + 2 * i, b"\x82\x84\x86" + b"\xbe" * 17)
    flow.to_server(data)
    flow.close()
    return cap
