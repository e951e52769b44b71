# SPDX-License-Identifier: GPL-2.0-or-later
import pcapgen


def capture():
    cap = pcapgen.Capture()
    flow = pcapgen.TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 7777)
    flow.open()
    flow.send(0, pcapgen.PSH | pcapgen.ACK, b"fir")
    flow.send(0, pcapgen.PSH | pcapgen.ACK, b"st, VERY")
    flow.seq[0] += 4
    flow.send(0, pcapgen.PSH | pcapgen.ACK, b"DATA")
    flow.send(1, pcapgen.ACK, b"")
    flow.close()
    return cap
