# SPDX-License-Identifier: GPL-2.0-or-later
"""Attacks on tables and decoders, and on what rules and logs keep or write."""
import random
import struct
import zlib

from attacks_binary import (MQTT_ORDINARY, MQTT_START, NFS_ORDINARY, RPC_ORDINARY, BIND, ACCEPTED,
                            call, handle, mqtt, publish, sunrpc)
from attacks_http import exchange, pages
from attacks_mail import FTP_ORDINARY, FTP_START, dialogue, mails, smtp
from attacks_packets import ETHERNET, datagram, fragments_in_order, ipv4, transfers
from catalogue import connect, entry, host, one_segment, rounds
from pcapgen import ACK, PSH, SYN, TcpFlow, address, dns_query, http_request

SMACK = "CVE-2018-5390 style; a hole that is filled last"


class WideFlow(TcpFlow):
    """Window scaling, so that a megabyte may wait behind a hole."""

    def open(self):
        scale = struct.pack(">BBHBBBB", 2, 4, 1460, 3, 3, 14, 1)
        self.send(0, SYN, options=scale)
        self.send(1, SYN | ACK, options=scale)
        self.send(0, ACK)


def wide(cap, port, i=0):
    flow = WideFlow(cap, host(0x10000 + i), 30000 + i % 30000, "192.168.0.1", port)
    flow.open()
    return flow


def behind_hole(flow, side, data):
    """All but the first byte, then the first: one packet brings everything."""
    first = flow.seq[side]
    flow.seq[side] += 1
    for at in range(1, len(data), 1460):
        flow.send(side, PSH | ACK, data[at:at + 1460])
    last = flow.seq[side]
    flow.seq[side] = first
    flow.send(side, PSH | ACK, data[:1])
    flow.seq[side] = last
    flow.send(1 - side, ACK)


def hole_entry(name, what, port, start, data, ordinary, **options):
    def make(cap, size):
        if size is not None:
            dialogue(cap, size, port, start, [], ordinary)
            return
        flow = wide(cap, port)
        for side, part in start:
            one_segment(flow, side, part)
        behind_hole(flow, 0, data())
    make.__name__ = "hole_" + name
    entry(what, SMACK, **options)(make)


hole_entry("mqtt", "MQTT: messages and their releases, in one piece behind a hole", 1883, MQTT_START,
           lambda: b"".join(publish(i, 2) for i in range(1, 40000)) + b"".join(
               mqtt(6, struct.pack(">H", i), 2) for i in range(39999, 0, -1)),
           MQTT_ORDINARY, proto="mqtt", short=True)
hole_entry("dcerpc", "DCE/RPC: calls in one piece behind a hole", 135, [(0, BIND), (1, ACCEPTED)],
           lambda: b"".join(call(i) for i in range(2, 26000)), RPC_ORDINARY, proto="dcerpc",
           short=True)
hole_entry("nfs", "NFS: writes to a file each, in one piece behind a hole", 2049, [],
           lambda: b"".join(sunrpc(i, 7, handle(i) + struct.pack(">QIII", 0, 4, 0, 4) + b"abcd")
                            for i in range(8000)), NFS_ORDINARY, proto="nfs", short=True)
hole_entry("ftp", "FTP: commands in one piece behind a hole", 21, FTP_START,
           lambda: b"NOOP\r\n" * 150000, FTP_ORDINARY, proto="ftp")
DNS_TCP = struct.pack(">H", len(dns_query(1, "a.b"))) + dns_query(1, "a.b")
hole_entry("dns", "DNS over TCP: queries in one piece behind a hole", 53, [],
           lambda: DNS_TCP * 38000, [(0, DNS_TCP)], proto="dns", short=True)


@entry("HTTP: requests in one piece behind a hole", SMACK, proto="http", short=True)
def hole_http(cap, size):
    if size is not None:
        pages(cap, size)
        return
    flow = wide(cap, 80)
    behind_hole(flow, 0, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n" * 30000)


@entry("SMTP: mails in one piece behind a hole", SMACK, proto="smtp")
def hole_smtp(cap, size):
    if size is not None:
        mails(cap, size)
        return
    flow = wide(cap, 25)
    flow.to_client(b"220 a ESMTP\r\n")
    behind_hole(flow, 0, b"EHLO a\r\n" + b"MAIL FROM:<a>\r\nRSET\r\n" * 35000)


# --- packets and fragments ------------------------------------------------------------------------

@entry("IP fragments before one that came first, the last again and again", "CVE-2018-5391, FragmentSmack", short=True)
def fragment_before_last(cap, size):
    if size is not None:
        fragments_in_order(cap, size)
        return
    for i in range(30000):
        at = 65504 if i == 0 else 8 * min(i, 8180)
        cap.ip("10.0.0.1", "192.168.0.1", 17, b"x" * 8, fragment=at, more=True, ident=1)


@entry("IP fragments that cover thousands of small ones, again and again",
       "CVE-2018-5391; Ptacek and Newsham 1998")
def fragment_cover(cap, size):
    if size is not None:
        fragments_in_order(cap, size)
        return
    for i in range(20000):
        small = i % 4000 < 3900
        cap.ip(host(i // 4000), "192.168.0.1", 17, b"x" * (8 if small else 1400),
               fragment=16 * (i % 4000) if small else 8 + 16 * (i % 4000 - 3900), more=True,
               ident=i // 4000)


@entry("IPv6 fragments of 8 bytes in random order", "CVE-2018-5391, FragmentSmack")
def fragment_v6(cap, size):
    if size is not None:
        fragments_in_order(cap, size)
        return
    rng = random.Random(3)
    for i in range(14000):
        head = struct.pack(">BBHI", 17, 0, 8 * (1 + rng.randrange(8000)) | 1, i // 3000)
        cap.ip("2001:db8::1", "2001:db8::2", 44, head + b"x" * 8)


def padded(cap, size, count, protocol, payload, source="10.1.0.1"):
    for i in rounds(cap, size, count):
        if size is None:
            cap.frame(ETHERNET + b"\x08\x00" + ipv4(protocol, payload, source))
        else:
            cap.frame(ETHERNET + b"\x08\x00" + ipv4(17, datagram(4000, 4001, b"x" * (
                len(payload) - 8)), source))


@entry("SCTP: packets of hundreds of chunks", "CVE-2010-1173, chunks without end", short=True)
def sctp_chunks(cap, size):
    padded(cap, size, 700, 132, struct.pack(">HHII", 5000, 80, 1, 0) + b"\x0a\0\0\4" * 360)


@entry("GRE: routing entries without end", "RFC 1701, source routes to walk")
def gre_routes(cap, size):
    padded(cap, size, 700, 47, b"\x40\0\x08\0\0\0\0\0" + b"\x08\0\0\1a\0\0\0"[:4] * 350 + b"\0\0\0\0")


@entry("Geneve: options without end", "RFC 8926, options to walk")
def geneve_options(cap, size):
    padded(cap, size, 2500, 17, datagram(6081, 6081, b"\x3f\0\x65\x58\0\0\1\0" + b"\0\0\1\0" * 63 +
                                         ETHERNET + b"\x08\0" + ipv4(17, datagram(1, 2, b"x"))))


@entry("ICMPv6: neighbour options without end", "CVE-2020-16898, options of router advertisements")
def icmpv6_options(cap, size):
    for i in rounds(cap, size, 700):
        body = b"\x86\0\0\0" + b"\0" * 12 + b"\x19\1\0\0\0\0\0\0" * 170
        cap.ip("fe80::1", "fe80::2", 58 if size is None else 17,
               body if size is None else datagram(4000, 4001, b"x" * 1400))


@entry("ICMPv6: multicast records without end", "MLD reports, records to walk")
def icmpv6_records(cap, size):
    for i in rounds(cap, size, 700):
        body = b"\x8f\0\0\0\0\0\0\x46" + (b"\4\0\0\0" + b"\xff" * 16) * 70
        cap.ip("fe80::1", "fe80::2", 58 if size is None else 17,
               body if size is None else datagram(4000, 4001, b"x" * 1400))


@entry("TCP and IPv4: options of one byte in each packet", "options to walk", short=True)
def option_bytes(cap, size):
    for i in rounds(cap, size, 9000):
        head = struct.pack(">BBHHHBBH", 0x4f, 0, 120, 1, 0, 64, 6, 0) + address("10.1.0.1") + \
            address("192.168.0.1") + b"\1" * 40
        segment = struct.pack(">HHIIBBHHH", 4000, 9999, i, 1, 0xf0, ACK, 9000, 0, 0) + b"\1" * 40
        if size is None:
            cap.frame(ETHERNET + b"\x08\x00" + head + segment)
        else:
            cap.tcp("10.1.0.1", 4000, "192.168.0.1", 9999, i, 1, ACK, b"x" * 80)


@entry("TCP: connections picked up in the middle, one packet each", "spoofed sources",
       sets=["stream.midstream=true", "stream.async-oneside=true"], short=True)
def tcp_midstream(cap, size):
    if size is not None:
        transfers(cap, size, 400)
        return
    for i in range(15000):
        cap.tcp(host(i), i & 0xffff, "192.168.0.1", 9999, i * 77, 1, PSH | ACK, b"x" * 10)


@entry("TCP: pieces a byte apart over a gigabyte of sequence numbers", "sparse sequence spaces",
       short=True)
def tcp_sparse(cap, size):
    if size is not None:
        transfers(cap, size, 1000)
        return
    flow = wide(cap, 9999)
    base = flow.seq[0]
    for i in range(14000):
        flow.seq[0] = base + 1 + i * 65000 % 0x3fff0000
        flow.send(0, PSH | ACK, b"ab")


@entry("TCP: selective acknowledgements that move with each packet", "CVE-2019-11478, SACK slowness",
       short=True)
def tcp_sack(cap, size):
    if size is not None:
        transfers(cap, size, 1000)
        return
    flow = wide(cap, 9999)
    one_segment(flow, 0, b"x" * 200000)
    for i in range(9000):
        left = flow.seq[0] + 1000 + i * 7919 % 900000
        blocks = b"".join(struct.pack(">II", left + 10 * k, left + 10 * k + 4) for k in range(3))
        flow.send(1, ACK, options=b"\1\1\5\x1a" + blocks)


@entry("flow table: more flows than its memory, each used again", "flow table in an emergency",
       sets=["flow.memcap=4mb", "flow.prealloc=100", "flow.hash-size=1024"], short=True)
def flow_emergency(cap, size):
    cap.step = 0.001
    for i in rounds(cap, size, 16000):
        at = i % 9000 if size is None else i % 500
        cap.udp(host(at), at & 0xffff, "192.168.0.1", 4000, b"x" * 20)


@entry("VLAN tags: a network of its own for each packet", "spoofed tags")
def flow_vlans(cap, size):
    for i in rounds(cap, size, 15000):
        at = i if size is None else i % 30
        cap.frame(ETHERNET + b"\x81\0" + struct.pack(">H", at & 4095) + b"\x81\0" + struct.pack(
            ">H", at >> 12) + b"\x08\x00" + ipv4(17, datagram(4000, 4001, b"x" * 20)))


@entry("flows of one packet, whose rate is watched for 18 hours", "memory by flow",
       sets=["flow.rate-tracking.bytes=1gb", "flow.rate-tracking.interval=65535"], short=True)
def flow_rates(cap, size):
    for i in rounds(cap, size, 3000):
        at = i if size is None else i % 30
        cap.udp(host(at), 4000, "192.168.0.1", 4000, b"x" * 20)


# --- what rules keep --------------------------------------------------------------------------------

@entry("thresholds: a pair of addresses for each packet", "state by pair, spoofed sources", short=True,
       rules='alert udp any any -> any any (msg:"t"; threshold:type both, track by_both, count 2, '
             'seconds 600; sid:1;)\nalert udp any any -> any any (msg:"d"; detection_filter:track '
             'by_dst, count 1000, seconds 600; sid:2;)\n')
def threshold_pairs(cap, size):
    for i in rounds(cap, size, 14000):
        at = i if size is None else i % 100
        cap.udp(host(at), 4000, host(at * 7, 172), 4000, b"x" * 20)


@entry("thresholds: a rule that counts backoff for each flow", "state by flow",
       rules='alert udp any any -> any any (msg:"t"; threshold:type backoff, track by_flow, count 2, '
             'multiplier 10; sid:1;)\n')
def threshold_flows(cap, size):
    for i in rounds(cap, size, 12000):
        at = i if size is None else i % 100
        cap.udp(host(at), 4000, "192.168.0.1", 4000, b"x" * 20)


@entry("xbits: a pair of addresses for each packet", "state by pair, spoofed sources",
       rules='alert udp any any -> any any (xbits:set,a,track ip_pair,expire 3600; noalert; sid:1;)\n'
             'alert udp any any -> any any (xbits:isset,b,track ip_dst; sid:2;)\n'
             'alert udp any any -> any any (xbits:set,c,track ip_dst,expire 9; noalert; sid:3;)\n')
def xbit_pairs(cap, size):
    for i in rounds(cap, size, 14000):
        at = i if size is None else i % 100
        cap.udp(host(at), 4000, host(at * 7, 172), 4000, b"x" * 20)


@entry("datasets: a name for each query, kept by a rule", "state that rules keep", short=True,
       rules='alert dns any any -> any any (dns.query; dataset:set,names,type string; noalert; sid:1;)\n'
             'alert dns any any -> any any (dns.query; to_md5; dataset:set,sums,type md5; noalert; '
             'sid:2;)\n', proto="dns")
def dataset_names(cap, size):
    for i in rounds(cap, size, 11000):
        at = i if size is None else i % 50
        cap.udp(host(i % 200), 5000, "192.168.0.1", 53, dns_query(i & 0xffff, f"h{at}.example.com"))


@entry("tags: sessions and hosts that stay tagged", "state that rules keep",
       rules='alert udp any any -> any any (msg:"t"; content:"x"; threshold:type limit, track by_src, '
             'count 1, seconds 600; tag:session,600,seconds; tag:host,1000,packets,src; noalert; sid:1;)\n')
def tag_flows(cap, size):
    for i in rounds(cap, size, 12000):
        at = i if size is None else i % 100
        cap.udp(host(at), 4000, "192.168.0.1", 4000, b"x" * 20)


# --- what is written --------------------------------------------------------------------------------

ALERT_EACH = 'alert tcp any any -> any any (msg:"a"; content:"q"; sid:1;)\n'


@entry("file store: bodies of HTTP as bombs, each another file", "amplification on disk",
       rules='alert http any any -> any any (msg:"s"; filestore; sid:1;)\n', proto="http",
       sets=["outputs.6.file-store.enabled=yes", "outputs.6.file-store.max-expansion=8"], short=True)
def store_bombs(cap, size):
    if size is not None:
        pages(cap, size)
        return
    for i in range(700):
        body = zlib.compress(b"%d" % i + b"a" * 1000000, 9, 31)
        exchange(connect(cap, 80, i), "gzip", body)


@entry("file store: files of one byte", "amplification on disk",
       rules='alert smtp any any -> any any (msg:"s"; filestore; sid:1;)\n', proto="smtp",
       sets=["outputs.6.file-store.enabled=yes"])
def store_tiny(cap, size):
    if size is not None:
        mails(cap, size)
        return
    flow = smtp(cap)
    flow.to_server(b"MAIL FROM:<a>\r\n")
    flow.to_client(b"250 ok\r\n")
    flow.to_server(b"RCPT TO:<a>\r\n")
    flow.to_client(b"250 ok\r\n")
    flow.to_server(b"DATA\r\n")
    flow.to_client(b"354 ok\r\n")
    one_segment(flow, 0, b"MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n" +
                b"".join(b"--b\r\nContent-Disposition: attachment; filename=%d\r\n\r\n%d\r\n" % (i, i)
                         for i in range(9000)) + b"--b--\r\n.\r\n")


@entry("alerts: each prints the long URL of its connection", "log amplification: alerts", short=True,
       rules=ALERT_EACH, proto="http")
def alert_url(cap, size):
    if size is not None:
        pages(cap, size)
        return
    for i in range(4):
        flow = connect(cap, 80, i)
        one_segment(flow, 0, http_request("a", "/" + "u" * 15000, method="POST",
                                          headers=("Content-Length: 900000",)))
        for _ in range(1500):
            flow.to_server(b"q")


@entry("alerts: each prints the topics of a message", "log amplification: alerts", proto="mqtt",
       rules=ALERT_EACH)
def alert_topics(cap, size):
    def mstr(text):
        return struct.pack(">H", len(text)) + text
    dialogue(cap, size, 1883, MQTT_START, [(0, mqtt(8, b"\0\1" + (mstr(b"t" * 300) + b"\0") * 99, 2))] +
             [(0, mqtt(3, mstr(b"q") + b"q" * 5)) for i in range(5000)], MQTT_ORDINARY)


@entry("alerts: a variable of the flow with each", "log amplification: alerts",
       rules='alert tcp any any -> any any (msg:"v"; content:"begin"; pcre:"/begin(?P<flow_a>.+)end/s"; '
             'sid:2;)\n' + ALERT_EACH)
def alert_variables(cap, size):
    if size is not None:
        transfers(cap, size, 20000)
        return
    flow = connect(cap, 9999)
    flow.to_server(b"begin" + b"v" * 1400 + b"end")
    for _ in range(6000):
        flow.to_server(b"q")
