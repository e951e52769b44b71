# SPDX-License-Identifier: GPL-2.0-or-later
"""Attacks on the engine below the parsers: small segments against rules on streams, records by
packet, jumps of the clock, connections that acknowledge what was never seen."""
import struct

from attacks_packets import ETHERNET, datagram, ipv4, transfers
from attacks_rules import rule
from attacks_tables import wide
from catalogue import connect, entry, host, rounds
from pcapgen import ACK, PSH, RST, SYN, address, http_request

WINDOW = "Smith, Estan and Jha 2006; a window inspected again for each byte"
PATTERNS = [b"ab%c%c" % (97 + i % 26, 97 + i // 26) for i in range(250)]
ANOMALIES = ["outputs.1.eve-log.types.2.anomaly.types.decode=yes",
             "outputs.1.eve-log.types.2.anomaly.types.stream=yes",
             "outputs.1.eve-log.types.2.anomaly.packethdr=yes"]


def small_segments(cap, size, windows):
    """Many rules have their fast pattern in the window; then it grows by a byte at a time."""
    if size is not None:
        transfers(cap, size, 20000)
        return
    flow = connect(cap, 9999)
    for _ in range(windows):
        flow.to_server(b"".join(PATTERNS))
        for _ in range(1400):
            flow.to_server(b"q")


@entry("rules on streams: contents tried again with each byte", WINDOW, short=True,
       rules="".join(rule(f'content:"{text.decode()}"; fast_pattern; content:"zz{i}"; distance:0;',
                          sid=i + 1) for i, text in enumerate(PATTERNS)))
def small_contents(cap, size):
    small_segments(cap, size, 16)


@entry("rules on streams: regular expressions tried again with each byte", WINDOW, short=True,
       rules="".join(rule(f'content:"{text.decode()}"; fast_pattern; pcre:"/{text.decode()}.*q.*'
                          '[xz]{9}/s";', sid=i + 1) for i, text in enumerate(PATTERNS[:100])))
def small_pcre(cap, size):
    small_segments(cap, size, 4)


@entry("rules on requests: absent payload looked for again with each byte", WINDOW, proto="http",
       sets=["stream.reassembly.toserver-chunk-size=120kb"], short=True,
       rules="".join(rule('flow:to_server; http.uri; content:"/none"; pkt_data; '
                          f'content:!"absent{i:03d}";', "http", i + 1) for i in range(60)))
def small_absent(cap, size):
    if size is not None:
        transfers(cap, size, 20000)
        return
    flow = connect(cap, 80)
    flow.to_server(b"POST /none HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n")
    for _ in range(50000):
        flow.to_server(b"q")


@entry("anomalies: packets with eight events each", "log amplification: anomalies by packet",
       sets=ANOMALIES, short=True)
def anomaly_events(cap, size):
    chain = b"".join(bytes([after, 0]) + b"\1\4\0\0\0\0" for after in (0, 0, 60, 60, 60, 43, 43, 60, 17))
    for _ in rounds(cap, size, 8000):
        if size is None:
            cap.ip("2001:db8::1", "2001:db8::2", 0, chain + datagram(1, 2, b""))
        else:
            cap.ip("2001:db8::1", "2001:db8::2", 17, datagram(1, 2, b"x" * 72))


@entry("anomalies: an event in each of twelve tunnels, each a flow", "log amplification: tunnels",
       sets=ANOMALIES, short=True)
def anomaly_tunnels(cap, size):
    for i in rounds(cap, size, 3000):
        inner = ipv4(17, datagram(4000, 4001, b""))
        for k in range(12):
            inner = struct.pack(">BBHHHBBH", 0x46, 0, 24 + len(inner), 1, 0, 64, 4, 0) + \
                address(host(i * 12 + k)) + address("192.168.0.1") + b"\x44\3\1\0" + inner
        if size is not None:
            inner = ipv4(17, datagram(4000, 4001, b"x" * (len(inner) - 28)))
        cap.frame(ETHERNET + b"\x08\x00" + inner)


@entry("flow table: a flow in each of twelve tunnels", "recursion of tunnels; log amplification")
def flow_tunnels(cap, size):
    for i in rounds(cap, size, 3000):
        inner = ipv4(17, datagram(4000, 4001, b""))
        for k in range(12):
            inner = ipv4(4, inner, host(i * 12 + k))
        if size is not None:
            inner = ipv4(17, datagram(4000, 4001, b"x" * (len(inner) - 28)))
        cap.frame(ETHERNET + b"\x08\x00" + inner)


@entry("time: it jumps by a day forward and back with each packet", "sweeps of timers", short=True)
def time_jumps(cap, size):
    for i in rounds(cap, size, 18000):
        cap.udp(host(i % 500), 4000, "192.168.0.1", 4000, b"x" * 20)
        if size is None:
            cap.now += 86400 if i % 2 else -80000


@entry("TCP: connections of two packets on the same ports", "state machine abuse")
def tcp_reuse(cap, size):
    if size is not None:
        transfers(cap, size, 400)
        return
    for i in range(9000):
        cap.tcp("10.0.0.1", 4000, "192.168.0.1", 80, i * 100000, 0, SYN)
        cap.tcp("192.168.0.1", 80, "10.0.0.1", 4000, 0, i * 100000 + 1, RST | ACK)


@entry("TCP: a megabyte is acknowledged that was never seen, again and again", "gaps without end",
       proto="http", short=True)
def tcp_unseen(cap, size):
    if size is not None:
        transfers(cap, size, 1000)
        return
    flow = wide(cap, 80)
    flow.to_server(http_request("a", "/"))
    flow.to_client(b"HTTP/1.1 200 OK\r\nContent-Length: 100000000000\r\n\r\n" + b"x" * 1000)
    for _ in range(9000):
        flow.seq[1] += 900000
        flow.send(1, PSH | ACK, b"x")
        flow.send(0, ACK)


@entry("TCP: SYNs with data of one connection, again and again", "RFC 7413, TCP Fast Open")
def tcp_fast_open(cap, size):
    if size is not None:
        transfers(cap, size, 400)
        return
    for i in range(12000):
        cap.tcp("10.0.0.1", 4000 + i // 3000, "192.168.0.1", 80, 1000 + i, 0, SYN, b"x" * 50,
                options=b"\x22\x0a12345678")


@entry("IPS: segments of one byte against rules whose patterns they follow", WINDOW,
       sets=["stream.inline=yes"],
       rules="".join(rule(f'content:"{text.decode()}"; fast_pattern; content:"zz{i}"; distance:0;',
                          sid=i + 1) for i, text in enumerate(PATTERNS[:20])))
def small_inline(cap, size):
    small_segments(cap, size, 5)


@entry("IPS: segments of one byte behind a hole", WINDOW, sets=["stream.inline=yes"], short=True)
def small_inline_hole(cap, size):
    flow = wide(cap, 9999)
    flow.seq[0] += size is None
    for _ in rounds(cap, size, 12000):
        flow.send(0, PSH | ACK, b"a" if size is None else b"a" * 70)
        if size is not None:
            flow.send(1, ACK)
