# SPDX-License-Identifier: GPL-2.0-or-later
import pcapgen


def capture():
    cap = pcapgen.Capture()
    flow = pcapgen.TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 7777)
    flow.open()
    flow.send(0, pcapgen.PSH | pcapgen.ACK, b"before")
    flow.seq[0] += 10
    flow.send(0, pcapgen.PSH | pcapgen.ACK, b"lost and")
    flow.send(0, pcapgen.PSH | pcapgen.ACK, b" found")
    flow.seq[0] -= 24
    flow.reset()
    return cap
