# SPDX-License-Identifier: GPL-2.0-or-later
from pcapgen import Capture, TcpFlow


def download(cap, control, port, content):
    control.to_server(b"PASV\r\n")
    control.to_client(b"227 Entering Passive Mode (10,0,0,2,%d,%d).\r\n" % divmod(port, 256))
    control.to_server(b"RETR some.bin\r\n")
    data = TcpFlow(cap, "10.0.0.1", 40001, "10.0.0.2", port)
    data.open()
    data.to_client(content)
    data.close(1)
    control.to_client(b"226 Done.\r\n")


def capture():
    cap = Capture()
    control = TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 21)
    control.open()
    control.to_client(b"220 Hello.\r\n")
    control.to_server(b"USER me\r\n")
    control.to_client(b"230 Welcome.\r\n")
    download(cap, control, 30000, b"short" * 300 + b"tail")
    download(cap, control, 30001, b"long " * 7000)
    control.close()
    return cap
