# SPDX-License-Identifier: GPL-2.0-or-later
from pcapgen import Capture, TcpFlow


def capture():
    cap = Capture()
    flow = TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 21)
    flow.open()
    flow.to_client(b"220 ready\r\n")
    for command, reply in ((b"USER a\r\n", b"331 password\r\n"), (b"PASS b\r\n", b"230 in\r\n"),
                           (b"RETR file\r\n", b"425 no connection\r\n"),
                           (b"QUIT\r\n", b"221 bye\r\n")):
        flow.to_server(command)
        flow.to_client(reply)
    flow.close()
    return cap
