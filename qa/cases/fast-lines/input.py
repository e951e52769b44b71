# SPDX-License-Identifier: GPL-2.0-or-later
import pcapgen


def capture():
    cap = pcapgen.Capture()
    cap.frame(b"\x01" * 6 + b"\x02" * 6 + b"\x99\x99" + bytes(range(60)))
    flow = pcapgen.TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 7777)
    flow.open()
    return cap
