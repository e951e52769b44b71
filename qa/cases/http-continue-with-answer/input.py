# SPDX-License-Identifier: GPL-2.0-or-later
from pcapgen import Capture, TcpFlow

CONTINUE = b"HTTP/1.1 100 Continue\r\nA: b\r\n\r\n"
ANSWER = b"HTTP/1.1 200 OK\r\nServer: x\r\nContent-Type: text/x\r\nContent-Length: 2\r\n\r\nok"


def capture():
    cap = Capture()
    for port, parts in ((40000, (CONTINUE + ANSWER,)), (40001, (CONTINUE, ANSWER)),
                        (40002, (CONTINUE + ANSWER[:10], ANSWER[10:]))):
        flow = TcpFlow(cap, "10.0.0.1", port, "10.0.0.2", 80)
        flow.open()
        flow.to_server(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi")
        for part in parts:
            flow.to_client(part)
        flow.close()
    return cap
