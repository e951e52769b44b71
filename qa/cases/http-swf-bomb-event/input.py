# SPDX-License-Identifier: GPL-2.0-or-later
"""Two Flash files: one of a thousand times its packed size, and one of the usual four times."""
import random
import zlib

from pcapgen import Capture, TcpFlow, http_request, http_response


def flash(content):
    return b"CWS\x09" + (8 + len(content)).to_bytes(4, "little") + zlib.compress(content, 9)


def capture():
    cap = Capture()
    draw = random.Random(1)
    for port, content in ((40000, bytes(4 << 20)), (40001, bytes(draw.choices(b"abcd", k=60000)))):
        flow = TcpFlow(cap, "10.0.0.1", port, "10.0.0.2", 80)
        flow.open()
        flow.to_server(http_request("a.example", "/f.swf"))
        flow.to_client(http_response(flash(content)))
        flow.close()
    return cap
