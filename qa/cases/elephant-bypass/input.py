# SPDX-License-Identifier: GPL-2.0-or-later
"""A flow that sends 200 KiB to the client in one second, and one that sends as much in an hour.
Each carries the word of the rule at its begin and at its end."""
import pcapgen


def capture():
    cap = pcapgen.Capture()
    flows = [pcapgen.TcpFlow(cap, "10.0.0.1", port, "10.0.0.2", 7777) for port in (40000, 40001)]
    for flow, pause in zip(flows, (0, 20)):
        flow.open()
        flow.to_client(b"needle at the begin")
        for _ in range(200):
            cap.wait(pause)
            flow.to_client(b"x" * 1024)
        flow.to_client(b"needle at the end")
        flow.close()
    return cap
