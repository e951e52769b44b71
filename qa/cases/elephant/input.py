# SPDX-License-Identifier: GPL-2.0-or-later
import pcapgen


def capture():
    cap = pcapgen.Capture()
    for port, pieces in ((40000, 4), (40001, 2)):
        flow = pcapgen.TcpFlow(cap, "10.0.0.1", port, "10.0.0.2", 7777)
        flow.open()
        for _ in range(pieces):
            flow.send(0, pcapgen.PSH | pcapgen.ACK, b"x" * 1000)
            flow.send(1, pcapgen.ACK, b"")
        flow.close()
    return cap
