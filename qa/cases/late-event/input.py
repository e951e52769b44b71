# SPDX-License-Identifier: GPL-2.0-or-later
from pcapgen import Capture, TcpFlow


def capture():
    cap = Capture()
    flow = TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 5432)
    flow.open()
    flow.to_server(b"\0\0\0\x08\0\xff\0\xff")         # of no version: recognised by the answer alone
    flow.to_client(b"N")
    flow.close()
    return cap
