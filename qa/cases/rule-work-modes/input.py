# SPDX-License-Identifier: GPL-2.0-or-later
"""Flows of both transports that send dear data and cheap data by turns, with ever more of the cheap:
at some turn the flow's bytes just pay. Their packets come in bursts, so that stages that work
ahead have seen later packets of a flow."""
from pcapgen import Capture, TcpFlow


def capture():
    cap = Capture()
    dear = b"a" * 50 + b"xb"
    flows = [TcpFlow(cap, f"10.0.1.{i}", 41000 + i, "10.0.0.2", 9999) for i in range(6)]
    for flow in flows:
        flow.open()
    for turn in range(30):
        for i, flow in enumerate(flows):
            for _ in range(turn % (i + 2)):
                flow.to_server(b"c" * (37 * turn + 1))
            flow.to_server(dear)
            for _ in range(turn % (i + 2)):
                cap.udp(f"10.0.2.{i}", 42000, "10.0.0.2", 9999, b"c" * (37 * turn + 1))
            cap.udp(f"10.0.2.{i}", 42000, "10.0.0.2", 9999, dear)
    return cap
