# SPDX-License-Identifier: GPL-2.0-or-later
from pcapgen import Capture, TcpFlow

BODY = b"x" * 1501 + b"needle" + b"y" * 1496


def upload(cap, port, path, step):
    """The body comes a few bytes at a time."""
    flow = TcpFlow(cap, "10.0.0.1", port, "10.0.0.2", 80)
    flow.open()
    flow.to_server(b"POST %s HTTP/1.1\r\nHost: a.example\r\nContent-Length: %d\r\n\r\n"
                   % (path, len(BODY)))
    for at in range(0, len(BODY), step):
        flow.to_server(BODY[at:at + step])
    flow.to_client(b"HTTP/1.1 202 Accepted\r\nContent-Length: 6\r\n\r\n")
    flow.to_client(b"answer")
    flow.close()


def capture():
    cap = Capture()
    for i, path in enumerate([b"/many", b"/few"]):
        for k, step in enumerate((3, 40, 4000)):
            upload(cap, 40000 + 10 * i + k, path, step)
    return cap
