# SPDX-License-Identifier: GPL-2.0-or-later
"""Six connections with two requests each, and two DNS queries.

10.0.0.1 in VLAN 5; .2 with TTL 3 on the SYN; .3 with TTL 3 on the second request; .4 as the others
are; .5 whose server sends its SYN/ACK with TTL 3; .6 with TTL 3 on the close; DNS from .7 with
TTL 3, from .8 without."""
import struct
from pcapgen import Capture, TcpFlow, dns_query, http_request, http_response

SERVER = "10.0.1.1"


def tag(cap, since):
    for i in range(since, len(cap.frames)):
        when, frame = cap.frames[i]
        cap.frames[i] = (when, frame[:12] + struct.pack(">HH", 0x8100, 5) + frame[12:])


def set_ttl(cap, i, ttl):
    """The sum of the IPv4 header changes by as much as its word of TTL and protocol."""
    when, frame = cap.frames[i]
    old = struct.unpack(">H", frame[22:24])[0]
    total = (struct.unpack(">H", frame[24:26])[0] ^ 0xffff) - old + (ttl << 8 | old & 0xff)
    total = (total & 0xffff) + (total >> 16)
    frame = frame[:22] + struct.pack(">BBH", ttl, frame[23], total % 0xffff ^ 0xffff) + frame[26:]
    cap.frames[i] = (when, frame)


def capture():
    cap = Capture()
    for host in range(1, 7):
        start = len(cap.frames)
        flow = TcpFlow(cap, f"10.0.0.{host}", 40000 + host, SERVER, 80)
        flow.open()
        for path in "/first", "/second":
            at = len(cap.frames)
            flow.to_server(http_request("a.example", path))
            flow.to_client(http_response(b"answer"))
            if host == 3 and path == "/second":
                set_ttl(cap, at, 3)
        end = len(cap.frames)
        flow.close()
        if host == 1:
            tag(cap, start)
        for which, i in (2, start), (5, start + 1), (6, end):
            if host == which:
                set_ttl(cap, i, 3)
    for host in 7, 8:
        cap.udp(f"10.0.0.{host}", 5000, SERVER, 53, dns_query(host, "a.example"))
        if host == 7:
            set_ttl(cap, len(cap.frames) - 1, 3)
    return cap
