# SPDX-License-Identifier: GPL-2.0-or-later
from pcapgen import Capture, TcpFlow

ACK, PUSH = 16, 8


def capture():
    """Neither the two messages nor the answer to one are acknowledged by TCP before the capture ends."""
    cap = Capture()
    flow = TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 1883)
    flow.open()
    flow.to_server(b"\x10\x0e\0\4MQTT\4\2\0\x3c\0\2me")
    flow.to_client(b"\x20\2\0\0")
    acknowledged = flow.seq[0]
    flow.send(0, ACK | PUSH, b"\x32\x0b\0\3a/b\0\7data" + b"\x32\x0b\0\3a/b\0\x08data")
    flow.cap.tcp(*flow.ends[1], *flow.ends[0], flow.seq[1], acknowledged, ACK | PUSH, b"\x40\2\0\7")
    return cap
