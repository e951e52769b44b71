# SPDX-License-Identifier: GPL-2.0-or-later
from struct import pack
from pcapgen import Capture, TcpFlow


def record(body):
    return pack(">I", 0x80000000 | len(body)) + body


def call(xid):
    return record(pack(">6I", xid, 0, 2, 100003, 3, 0) + bytes(16))


def reply(xid):
    return record(pack(">6I", xid, 1, 0, 0, 0, 0))


def capture():
    cap = Capture()
    for port, again in ((40000, True), (40001, False)):
        flow = TcpFlow(cap, "10.0.0.1", port, "10.0.0.2", 2049)
        flow.open()
        flow.to_server(call(1))
        flow.to_client(reply(1))
        if again:
            flow.to_server(call(2))
            flow.to_client(reply(2))
            flow.close()
    return cap
