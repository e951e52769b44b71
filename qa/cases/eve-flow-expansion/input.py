# SPDX-License-Identifier: GPL-2.0-or-later
from pcapgen import Capture, TcpFlow

CONNECT = b"\x10\x0e\0\4MQTT\4\2\0\x3c\0\2me"
PING = b"\xc0\0"


def session(cap, port, pings):
    flow = TcpFlow(cap, "10.0.0.1", port, "10.0.0.2", 1883)
    flow.open()
    flow.to_server(CONNECT)
    flow.to_client(b"\x20\2\0\0")
    flow.to_server(PING * pings)
    flow.close()


def capture():
    cap = Capture()
    session(cap, 40000, 10)
    session(cap, 40001, 5000)
    return cap
