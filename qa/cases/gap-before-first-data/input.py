# SPDX-License-Identifier: GPL-2.0-or-later
"""The first data of the client, and of the server, were not captured."""
from pcapgen import Capture, TcpFlow


def capture():
    cap = Capture()
    flow = TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 9999)
    flow.open()
    flow.seq[0] += 100
    for _ in range(3):
        flow.to_server(b"\x01\x02 behind the gap\n")
    flow.to_client(b"\x05\x06 an answer that shows no protocol\n")
    flow.to_server(b"no more of it\n")
    flow.close()
    flow = TcpFlow(cap, "10.0.0.1", 40001, "10.0.0.2", 9999)
    flow.open()
    flow.seq[1] += 100
    for _ in range(3):
        flow.to_client(b"\x01\x02 behind the gap\n")
    return cap
