# SPDX-License-Identifier: GPL-2.0-or-later
import struct
from pcapgen import ACK, PSH, SYN, Capture, TcpFlow, address

SCALE = b"\x03\x03\x07\0"                      # the window times 128
BODY = b"x" * 90000


def big(cap, flow, payload):
    """A segment from the server as the kernel hands it up: the length of IP is 0."""
    tcp = struct.pack(">HHIIBBHHH", 80, 40000, flow.seq[1], flow.seq[0], 0x50, PSH | ACK, 65535, 0, 0)
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 0, 1, 0, 64, 6, 0) + address("10.0.0.2") + \
        address("10.0.0.1")
    cap.ping("10.0.0.1", "10.0.0.2")           # a frame with a time and link header to take over
    when, frame = cap.frames.pop()
    cap.frames.append((when, frame[:14] + ip + tcp + payload))
    flow.seq[1] += len(payload)


def capture():
    cap = Capture()
    flow = TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 80)
    flow.send(0, SYN, options=SCALE)
    flow.send(1, SYN | ACK, options=SCALE)
    flow.send(0, ACK)
    flow.to_server(b"GET /big HTTP/1.1\r\nHost: a\r\n\r\n")
    big(cap, flow, b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(BODY) + BODY)
    flow.send(0, ACK)
    flow.close()
    return cap
