# SPDX-License-Identifier: GPL-2.0-or-later
"""A flow that sends much to the server and later to the client, and one that only asks."""
import pcapgen


def capture():
    cap = pcapgen.Capture()
    flow = pcapgen.TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 7777)
    flow.open()
    for side in (0, 1):
        for _ in range(4):
            flow.send(side, pcapgen.PSH | pcapgen.ACK, b"x" * 1000)
            flow.send(1 - side, pcapgen.ACK)
    flow.close()
    small = pcapgen.TcpFlow(cap, "10.0.0.1", 40001, "10.0.0.2", 7777)
    small.open()
    small.to_server(b"x" * 1000)
    small.close()
    return cap
