# SPDX-License-Identifier: GPL-2.0-or-later
from pcapgen import Capture, TcpFlow, http_request, http_response

SEGMENT = 1400


def in_segments(send, data):
    for at in range(0, len(data), SEGMENT):
        send(data[at:at + SEGMENT])


def capture():
    """Bodies of several sizes, each with the mark near its end: what rules want of the headers has been
    reported by then."""
    cap = Capture()
    for n, size in enumerate((100, 3000, 9000, 20000, 30000, 60000)):
        body = b"a" * (size - 10) + b"endmark"
        for up in (True, False):
            flow = TcpFlow(cap, "10.0.0.1", 40000 + 2 * n + up, "10.0.0.2", 80)
            flow.open()
            in_segments(flow.to_server, http_request("a.example", "/first", method="POST",
                                                     body=body if up else b"short"))
            in_segments(flow.to_client, http_response(b"short" if up else body))
            flow.close()
    return cap
