# SPDX-License-Identifier: GPL-2.0-or-later
import pcapgen


def capture():
    cap = pcapgen.Capture()
    flow = pcapgen.TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 7777)
    flow.open()
    for i in range(20):
        flow.send(0, pcapgen.PSH | pcapgen.ACK, b"1")
        flow.send(0, pcapgen.PSH | pcapgen.ACK, b"22")
    return cap
