# SPDX-License-Identifier: GPL-2.0-or-later
"""Attacks on decoders, defragmentation, flows and reassembly of TCP."""
import random
import struct

import attacks_hash
from catalogue import RULES, connect, entry, host, one_segment, rounds
from pcapgen import ACK, FIN, MAC_A, MAC_B, PSH, RST, SYN, address, dns_query

ETHERNET = MAC_B + MAC_A


def ipv4(protocol, payload, source="10.1.0.1", target="192.168.0.1"):
    return struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(payload), 1, 0, 64, protocol, 0) + \
        address(source) + address(target) + payload


def datagram(sport, dport, payload):
    return struct.pack(">HHHH", sport, dport, 8 + len(payload), 0) + payload


def queries(cap, size, clients=200):
    """Ordinary DNS, until the size is reached."""
    for i in rounds(cap, size, 0):
        cap.udp(host(i % clients), 5000 + i // clients, "192.168.0.1", 53,
                dns_query(i & 0xffff, f"host{i}.example.com"))


def transfers(cap, size, chunk=50000, port=9999):
    """Ordinary connections that carry text which no parser knows."""
    for i in rounds(cap, size, 0):
        flow = connect(cap, port, i)
        flow.to_server(b"hello " * 20)
        flow.to_client((b"line of the answer %d\n" % i * (chunk // 20))[:min(chunk, max(
            1000, size - cap.bytes))])
        flow.close()


# Hash tables. The captures come from attacks_hash, which says why they collide.

def hash_entry(attack, count, rules, short):
    def make(cap, size):
        for data in attack(count, size is not None):
            cap.frame(data)
    make.__name__ = "hash_" + attack.__name__
    entry("hash table: " + attack.__doc__.split(":")[0].replace("\n   ", ""),
          "Crosby and Wallach 2003, algorithmic complexity attacks", rules=rules,
          short=short)(make)


AGENTS = "alert http any any -> any any (http.user_agent; dataset:set,agents,type string; sid:1;)\n"
for one in attacks_hash.ATTACKS:
    named = one is attacks_hash.names_with_one_end
    hash_entry(one, 4000 if named else 16000, AGENTS if named else RULES,
               one is attacks_hash.flows_v6)


@entry("flow table: one hash key for IPv4 pairs whose halves cancel", "Crosby and Wallach 2003")
def hash_flows_v4(cap, size):
    rng = random.Random(7)
    for i in range(16000):
        source, port = host(i ^ 0x155555 if size is None else rng.getrandbits(24)), i & 0xffff
        cap.udp(source, port, host(i, 172), port ^ 0x5555 if size is None else 4000, b"x" * 20)


@entry("flow table: one packet for each flow", "flood of spoofed sources", short=True)
def flow_one_packet(cap, size):
    for i in rounds(cap, size, 15000):
        if size is None:
            cap.udp(host(i), i & 0xffff, "192.168.0.1", 4000, b"x" * 20)
        else:
            cap.udp(host(i % 100), 4000 + i % 3, "192.168.0.1", 4000, b"x" * 20)


@entry("flow table: SYN flood from spoofed sources", "CERT CA-1996-21, SYN flood", short=True)
def tcp_syn_flood(cap, size):
    if size is None:
        for i in range(18000):
            cap.tcp(host(i), i & 0xffff, "192.168.0.1", 80, i, 0, SYN)
    else:
        transfers(cap, size, 400)


@entry("TCP: many SYN/ACKs that disagree, kept until one is acknowledged",
       "split handshake, queue of SYN/ACKs")
def tcp_synack_queue(cap, size):
    if size is not None:
        transfers(cap, size, 400)
        return
    for i in range(16000):
        if i % 400 == 0:
            cap.tcp(host(i), 4000, "192.168.0.1", 80, 100, 0, SYN)
        cap.tcp("192.168.0.1", 80, host(i - i % 400), 4000, i * 7919, 101, SYN | ACK)


@entry("TCP: segments behind holes", "CVE-2018-5390, SegmentSmack", short=True)
def tcp_holes(cap, size):
    flow = connect(cap, 9999)
    for i in rounds(cap, size, 15000):
        if size is None:
            flow.seq[0] += 1
        flow.send(0, PSH | ACK, b"abcd")


@entry("TCP: segments behind holes, newest first", "CVE-2018-5390, SegmentSmack", short=True)
def tcp_holes_backwards(cap, size):
    flow = connect(cap, 9999)
    base = flow.seq[0]
    for i in rounds(cap, size, 15000):
        if size is None:
            flow.seq[0] = base + 3 * (20000 - i)
        flow.send(0, PSH | ACK, b"ab")


@entry("TCP: segments behind holes, in random order, in many flows", "CVE-2018-5390, SegmentSmack")
def tcp_holes_many_flows(cap, size):
    rng = random.Random(8)
    flows = [connect(cap, 9999, i) for i in range(20)]
    for i in rounds(cap, size, 18000):
        flow = flows[i % 20]
        if size is None:
            flow.seq[0] = 1001 + 4 * rng.randrange(60000)
        flow.send(0, PSH | ACK, b"ab")


@entry("TCP: segments of one byte", "tiny segments, Ptacek and Newsham 1998", short=True)
def tcp_tiny_segments(cap, size):
    flow = connect(cap, 80)
    text = b"GET /" + b"a" * 14000 + b" HTTP/1.1\r\nHost: a\r\n\r\n"
    for i in rounds(cap, size, 14000):
        flow.send(0, PSH | ACK, text[i:i + 1] if size is None else text[:1] * 0 + b"GET / HTTP/1")


@entry("TCP: overlapping segments with other bytes", "Ptacek and Newsham 1998", short=True)
def tcp_overlaps(cap, size):
    flow = connect(cap, 9999)
    base = flow.seq[0]
    for i in rounds(cap, size, 1200):
        if size is None:
            flow.seq[0] = base + 1 + 700 * (i % 40) + i // 40
        flow.send(0, PSH | ACK, bytes([i & 255]) * 1400)


@entry("TCP: every segment covers all small ones before", "Ptacek and Newsham 1998")
def tcp_overlap_all(cap, size):
    flow = connect(cap, 9999)
    base = flow.seq[0]
    for i in rounds(cap, size, 9000):
        if size is None:
            flow.seq[0] = base + 1 + (2 * (i % 700) if i % 10 else 0)
        flow.send(0, PSH | ACK, b"ab" if size is not None or i % 10 else b"abcdefgh" * 180)


@entry("TCP: data far ahead in the window, in many connections", "memory held by holes")
def tcp_far_ahead(cap, size):
    if size is not None:
        transfers(cap, size, 1000)
        return
    for i in range(1000):
        flow = connect(cap, 9999, i)
        flow.seq[0] += 60000
        flow.send(0, PSH | ACK, b"x" * 1200)


@entry("TCP: blocks behind holes of one side, data of the other, and no end", "loop without progress",
       short=True)
def tcp_open_ends(cap, size):
    if size is not None:
        transfers(cap, size, 1000)
        return
    for i in range(500):
        flow = connect(cap, 9999, i)
        flow.send(1, PSH | ACK, b"never acknowledged")
        flow.seq[1] -= len(b"never acknowledged")
        for _ in range(6):
            flow.seq[0] += 10
            flow.send(0, PSH | ACK, b"x" * 100)


@entry("TCP: packets after the end, resets and FINs again and again", "state machine abuse")
def tcp_after_end(cap, size):
    flow = connect(cap, 9999)
    for i in rounds(cap, size, 15000):
        flow.send(i & 1, (FIN | ACK, RST, RST | ACK, SYN)[i % 4] if size is None else ACK)


@entry("IP fragments that overlap", "CVE-2018-5391, FragmentSmack", short=True)
def fragment_overlaps(cap, size):
    if size is not None:
        fragments_in_order(cap, size)
        return
    for i in range(15000):
        cap.ip(host(i // 2000), "192.168.0.1", 17, b"x" * 24, fragment=8 + 16 * (i % 2000), more=True,
               ident=i // 2000)


def fragments_in_order(cap, size):
    for i in rounds(cap, size, 0):
        payload = datagram(4000, 4001, b"x" * 2900)
        for at in range(0, len(payload), 24 * 8):
            cap.ip(host(i % 200), "192.168.0.1", 17, payload[at:at + 192], fragment=at,
                   more=at + 192 < len(payload), ident=i & 0xffff)


@entry("IP fragments of 8 bytes, last first", "CVE-2018-5391, FragmentSmack", short=True)
def fragment_backwards(cap, size):
    if size is not None:
        fragments_in_order(cap, size)
        return
    for i in range(18000):
        cap.ip(host(i // 6000), "192.168.0.1", 17, b"x" * 8, fragment=8 + 8 * (6000 - i % 6000),
               more=True, ident=i // 6000)


@entry("IP: datagrams that are never whole", "Rose attack; CVE-2018-5391", short=True)
def fragment_open(cap, size):
    if size is not None:
        fragments_in_order(cap, size)
        return
    for i in range(15000):
        cap.ip(host(i), "192.168.0.1", 17, b"x" * 40, more=True, ident=i & 0xffff)


@entry("IPv6: chains of extension headers", "RFC 7112; CVE-2007-2242, routing headers", short=True)
def ipv6_extensions(cap, size):
    chain = b"".join(bytes([60 if i < 40 else 17, 0]) + b"\1\4\0\0\0\0" for i in range(41))
    for i in rounds(cap, size, 2500):
        data = datagram(4000, 4001, b"x")
        if size is None:
            cap.ip("2001:db8::1", "2001:db8::2", 60, chain + data)
        else:
            cap.ip("2001:db8::1", "2001:db8::2", 17, data + b"x" * 300)


@entry("IPv6: options of one byte of padding", "RFC 7045, options to walk")
def ipv6_pad_options(cap, size):
    option = bytes([17, 180]) + b"\0" * 1446
    for i in rounds(cap, size, 700):
        data = datagram(4000, 4001, b"x")
        if size is None:
            cap.ip("2001:db8::1", "2001:db8::2", 0, option + data)
        else:
            cap.ip("2001:db8::1", "2001:db8::2", 17, datagram(4000, 4001, b"x" * 1440))


def vlan_frames(cap, size, tag, count):
    packet = ipv4(17, datagram(4000, 4001, b"x" * 20))
    for i in rounds(cap, size, count):
        if size is None:
            cap.frame(ETHERNET + tag * 60 + b"\x08\x00" + packet)
        else:
            cap.frame(ETHERNET + b"\x08\x00" + ipv4(17, datagram(4000, 4001, b"x" * 260)))


@entry("decoder: stacks of VLAN tags", "double tagging; headers nested without end", short=True)
def vlan_stack(cap, size):
    vlan_frames(cap, size, b"\x88\xa8\0\1", 3500)


@entry("decoder: stacks of MPLS labels", "headers nested without end")
def mpls_stack(cap, size):
    labels = b"\x88\x47" + b"\0\1\0\x40" * 300 + b"\0\1\1\x40"
    packet = ipv4(17, datagram(4000, 4001, b"x" * 20))
    for i in rounds(cap, size, 900):
        if size is None:
            cap.frame(ETHERNET + labels + packet)
        else:
            cap.frame(ETHERNET + b"\x08\x00" + ipv4(17, datagram(4000, 4001, b"x" * 1200)))


def nested(cap, size, wrap, depth, count):
    inner = ipv4(17, datagram(4000, 4001, b"x" * 20))
    for _ in range(depth):
        inner = wrap(inner)
    for i in rounds(cap, size, count):
        if size is None:
            cap.frame(ETHERNET + b"\x08\x00" + inner)
        else:
            cap.frame(ETHERNET + b"\x08\x00" +
                      ipv4(17, datagram(4000, 4001, b"x" * (len(inner) - 28))))


@entry("tunnels: GRE in GRE", "recursion of tunnels, RFC 4459", short=True)
def tunnel_gre(cap, size):
    nested(cap, size, lambda p: ipv4(47, b"\0\0\x08\0" + p), 55, 800)


@entry("tunnels: IPv4 in IPv4", "recursion of tunnels, RFC 4459")
def tunnel_ipip(cap, size):
    nested(cap, size, lambda p: ipv4(4, p), 65, 800)


@entry("tunnels: VXLAN in VXLAN", "recursion of tunnels, RFC 4459")
def tunnel_vxlan(cap, size):
    nested(cap, size, lambda p: ipv4(17, datagram(
        4789, 4789, b"\x08\0\0\0\0\0\1\0" + ETHERNET + b"\x08\0" + p)), 27, 800)


@entry("tunnels: Geneve in Geneve", "recursion of tunnels, RFC 4459")
def tunnel_geneve(cap, size):
    nested(cap, size, lambda p: ipv4(17, datagram(
        6081, 6081, b"\0\0\x65\x58\0\0\1\0" + ETHERNET + b"\x08\0" + p)), 27, 800)


@entry("tunnels: Teredo and IPv6 in IPv4 by turns", "recursion of tunnels, RFC 4459", short=True)
def tunnel_teredo(cap, size):
    def wrap(packet):
        six = struct.pack(">IHBB", 6 << 28, len(packet), 4, 64) + address("2001::1") + \
            address("2001::2") + packet
        return ipv4(17, datagram(3544, 3544, six))
    nested(cap, size, wrap, 20, 800)


@entry("tunnels: fragments of tunnels of fragments", "recursion of tunnels and fragments")
def tunnel_fragments(cap, size):
    if size is not None:
        fragments_in_order(cap, size)
        return
    for i in range(1500):
        inner = ipv4(17, datagram(4000, 4001, b"x" * 200), source=host(i))
        for _ in range(6):
            inner = ipv4(4, inner)
        cap.ip(host(i), "192.168.0.1", 4, inner[:160], more=True, ident=i)
        cap.ip(host(i), "192.168.0.1", 4, inner[160:], fragment=160, ident=i)


@entry("ICMP: errors that quote other flows", "BlackNurse; ICMP errors", short=True)
def icmp_errors(cap, size):
    for i in rounds(cap, size, 12000):
        if size is None:
            quoted = ipv4(17, datagram(i & 0xffff, 53, b"12345678"), source=host(i))
            cap.ip(host(i), "192.168.0.1", 1, b"\3\3\0\0\0\0\0\0" + quoted)
        else:
            cap.ping(host(i % 50), "192.168.0.1", payload=b"x" * 36)


@entry("decoder: packets with several events each", "log amplification: anomalies by packet",
       sets=["outputs.1.eve-log.types.2.anomaly.types.decode=yes",
             "outputs.1.eve-log.types.2.anomaly.types.stream=yes"], short=True)
def decode_anomalies(cap, size):
    if size is not None:
        queries(cap, size)
        return
    for i in range(16000):
        cap.frame(ETHERNET + b"\x08\x00" + ipv4(6, b"\0" * 8, source=host(i)))


@entry("stream: segments with an event each", "log amplification: anomalies by packet",
       sets=["outputs.1.eve-log.types.2.anomaly.types.decode=yes",
             "outputs.1.eve-log.types.2.anomaly.types.stream=yes"])
def stream_anomalies(cap, size):
    if size is not None:
        transfers(cap, size)
        return
    flow = connect(cap, 9999)
    for i in range(14000):
        cap.tcp("192.168.0.1", 9999, "10.1.0.0", 30000, 90000000 + i * 77777, 5, PSH | ACK | SYN,
                b"ab")


ALERT = "outputs.1.eve-log.types.0.alert."


@entry("rules: two alerts with all their details for each packet",
       "log amplification: stick and snot, 2001", short=True, reaches="eve.details_cut",
       sets=["outputs.1.eve-log.max-alert-expansion=4"] +
       [ALERT + key + "=yes" for key in ("payload", "payload-printable", "packet")],
       rules='alert udp any any -> any 4001 (msg:"one"; content:"x"; '
             'reference:url,example.com/one; sid:1;)\n'
             'alert udp any any -> any 4001 (msg:"two"; content:"x"; target:dest_ip; sid:2;)\n')
def alerts_by_packet(cap, size):
    for i in rounds(cap, size, 12000):
        cap.udp(host(i % 3), 4000, "192.168.0.1", 4001 if size is None else 4002, b"x" * 60)


@entry("SCTP and ESP: one packet for each flow", "flood of spoofed sources")
def flow_sctp_esp(cap, size):
    for i in rounds(cap, size, 15000):
        at = i if size is None else i % 100
        cap.ip(host(at), "192.168.0.1", 132 if i & 1 else 50,
               struct.pack(">HHII", at & 0xffff, 80, at, 0) + b"\1\0\0\x14" + b"x" * 16)


@entry("ARP: requests for every address", "ARP scan",
       sets=["outputs.1.eve-log.types.35.arp.enabled=yes"])
def arp_scan(cap, size):
    for i in rounds(cap, size, 15000):
        cap.frame(b"\xff" * 6 + MAC_A + b"\x08\x06" + struct.pack(
            ">HHBBH", 1, 0x800, 6, 4, 1) + MAC_A + b"\x0a\0\0\1" + b"\0" * 6 + struct.pack(
                ">I", 0x0a000000 + (i if size is None else i % 10)))


@entry("host table: thresholds and tags for every address", "state by host, spoofed sources",
       rules='alert udp any any -> any any (msg:"t"; threshold:type limit, track by_src, count 1, '
             'seconds 600; tag:host,600,seconds,src; sid:1;)\n'
             'alert udp any any -> any any (xbits:set,seen,track ip_src,expire 600; noalert; '
             'sid:2;)\n')
def host_thresholds(cap, size):
    for i in rounds(cap, size, 12000):
        cap.udp(host(i if size is None else i % 100), 4000, "192.168.0.1", 4000, b"x" * 100)


@entry("one connection: data sent again without end", "retransmission flood")
def tcp_retransmissions(cap, size):
    flow = connect(cap, 9999)
    base = flow.seq[0]
    for i in rounds(cap, size, 1000):
        if size is None:
            flow.seq[0] = base
        one_segment(flow, 0, b"x" * 1000)
