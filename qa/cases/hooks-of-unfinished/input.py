# SPDX-License-Identifier: GPL-2.0-or-later
from pcapgen import Capture, TcpFlow

HEAD = b"POST /f HTTP/1.1\r\nHost: a\r\nContent-Length: "


def capture():
    cap = Capture()
    for i, (request, answer) in enumerate([(HEAD + b"3\r\n\r\nabc", b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
                                           (HEAD + b"100\r\n\r\nabc", b"HTTP/1.1 200 OK\r\nServer: x\r\n"),
                                           (b"GET /f HTTP/1.1\r\n", None)]):
        flow = TcpFlow(cap, "10.0.0.1", 40000 + i, "10.0.0.2", 80)
        flow.open()
        flow.to_server(request)
        if answer:
            flow.to_client(answer)
    return cap
