# SPDX-License-Identifier: GPL-2.0-or-later
"""Attacks that mix what others take alone: tunnels of every kind in each other, names compressed in
every type of record, flows that each stay just below a limit of theirs."""
import random
import struct

from attacks_binary import (ENIP_ON, ENIP_ORDINARY, MQTT_START, PG_ON, PG_ORDINARY, PG_START, enip,
                            lookup, mqtt, pg, publish)
from attacks_crypto import ike, proposals
from attacks_http import pages
from attacks_mail import FTP_START, dialogue
from attacks_names import answers, head, rr
from attacks_packets import ETHERNET, datagram, ipv4
from attacks_waiting import SOURCE as WAITING_SOURCE
from catalogue import connect, entry, host, one_segment, rounds

TUNNELS = "recursion of tunnels, RFC 4459"
GENEVE, VXLAN = b"\0\0\x65\x58\0\0\1\0", b"\x08\0\0\0\0\0\1\0"
TAGS, LABELS = b"\x88\xa8\0\1\x81\0\0\2", b"\x88\x47\0\1\0\x40\0\1\1\x40"


def ethernet(packet, draw):
    """A frame within a tunnel: plain, with two tags of VLANs, or with two labels of MPLS."""
    return ETHERNET + draw.choice((b"\x08\0", TAGS + b"\x08\0", LABELS)) + packet


def wrapped(packet, draw):
    """The packet in a tunnel of any kind."""
    kind = draw.randrange(6)
    ends = {"source": host(draw.randrange(1 << 16)), "target": host(draw.randrange(1 << 16), 192)}
    if kind == 0:
        return ipv4(4, packet, **ends)
    if kind == 1:
        return ipv4(47, b"\0\0\x08\0" + packet, **ends)
    if kind == 2:
        return ipv4(47, b"\0\0\x88\x47" + LABELS[2:] + packet, **ends)
    if kind == 3:
        return ipv4(47, b"\0\0\x65\x58" + ethernet(packet, draw), **ends)
    port, lead = (4789, VXLAN) if kind == 4 else (6081, GENEVE)
    inner = lead + ethernet(packet, draw)
    return ipv4(17, datagram(draw.randrange(1024, 65536), port, inner), **ends)


@entry("tunnels: every kind in every other, each packet another mixture", TUNNELS, short=True)
def tunnel_mixtures(cap, size):
    draw = random.Random(1)
    for i in rounds(cap, size, 4000):
        data = b"x" * (20 if size is None else 500)
        packet = ipv4(17, datagram(4000, 4001, data), source=host(i))
        if size is not None:
            cap.frame(ETHERNET + b"\x08\0" + packet)
            continue
        for _ in range(12):
            packet = wrapped(packet, draw)
        cap.frame(ethernet(packet, draw))


# NS, CNAME, PTR, MX, SRV, DNAME and HTTPS: what comes before the name in their data.
NAMED = [(2, b""), (5, b""), (12, b""), (15, b"\0\1"), (33, b"\0\0\0\0\0\1"), (39, b""),
         (65, b"\0\1")]


def compressed(count):
    """Records of every type, each of whose names leads to a chain of pointers."""
    chain = b"\1a\0" + b"".join(b"\1a" + struct.pack(">H", 0xc000 | 12 + (0 if i == 0 else 3 + (
        i - 1) * 4)) for i in range(120))
    end = struct.pack(">H", 0xc000 | 12 + len(chain) - 4)
    records = [rr(kind, lead + end, end) for kind, lead in NAMED]
    records.append(rr(6, end + end + bytes(20), end))
    return (records * count)[:count], chain


@entry("DNS: names of every type of record that point along a chain",
       "CVE-2000-0333, compression loops", short=True, proto="dns")
def dns_chains_by_type(cap, size):
    records, chain = compressed(40)
    answers(cap, size, 500, lambda i: head(i, 0x8180, 1, len(records)) + chain + b"\0\1\0\1" +
            b"".join(records))


@entry("TFTP: requests of hundreds of options", "loops over options", short=True, proto="tftp")
def tftp_options(cap, size):
    for i in rounds(cap, size, 900):
        cap.udp(host(i % 200), 5000 + i % 1000, "192.168.0.1", 69, b"\0\1a%d\0octet\0" % i + (
            b"a\0b\0" * 340 if size is None else b"blksize\0" + b"1428\0"))


@entry("IKE: associations without end, each of many proposals",
       "loops over proposals and transforms", short=True, proto="ike")
def ike_associations(cap, size):
    one = proposals(2)
    chain = b"".join(b"\x21" + one[1:] for _ in range(1300 // len(one))) + one
    for i in rounds(cap, size, 700):
        cap.udp("10.0.0.1" if size is None else host(i % 100), 500, "192.168.0.1", 500,
                ike(i, 33, chain if size is None else one))


@entry("PostgreSQL: messages of no bytes without end", "tiny messages", sets=PG_ON, proto="pgsql",
       short=True)
def pgsql_tiny(cap, size):
    dialogue(cap, size, 5432, PG_START, [(0, pg(b"S", b"") * 60000), (1, pg(b"Z", b"I") * 50000)],
             PG_ORDINARY)


@entry("ENIP: messages of thousands of services of two bytes", "CIP multiple service packets",
       sets=ENIP_ON, short=True, proto="enip")
def enip_tiny_services(cap, size):
    count = 7000
    offsets = b"".join(struct.pack("<H", 2 + 2 * count + 2 * i & 0xffff) for i in range(count))
    message = b"\x0a\2\x20\2\x24\1" + struct.pack("<H", count) + offsets + b"\1\0" * count
    body = struct.pack("<IHH", 0, 0, 2) + struct.pack("<HHHH", 0, 0, 0xb2, len(message)) + message
    dialogue(cap, size, 44818, [], [(0, enip(0x6f, body, i)) for i in range(20)], ENIP_ORDINARY)


WINDOW = "".join(f'alert http any any -> any any (http.uri; content:"word{i}x"; '
                 f'http.request_body; content:"nowhere"; sid:{i + 1};)\n' for i in range(300))


@entry("rules: hundreds that look into a body again with each small packet", WAITING_SOURCE,
       rules=WINDOW, proto="http", short=True)
def waiting_window(cap, size):
    if size is not None:
        pages(cap, size, 2000, uploads=True)
        return
    path = b"/" + b"".join(b"word%dx" % i for i in range(300))
    flow = connect(cap, 80)
    one_segment(flow, 0, b"POST %s HTTP/1.1\r\nHost: a\r\nContent-Length: 90000\r\n\r\n" % path +
                b"x" * 40000)
    for _ in range(3000):
        flow.data(0, b"x\r\n")


def below(cap, i):
    """Connections that each keep open a little less than they may."""
    flow = connect(cap, 1883, 4 * i)
    for side, data in [*MQTT_START, (0, b"".join(publish(n) for n in range(1, 1000)))]:
        one_segment(flow, side, data)
    flow = connect(cap, 2049, 4 * i + 1)
    one_segment(flow, 0, b"".join(lookup(n) for n in range(1000)))
    flow = connect(cap, 21, 4 * i + 2)
    for side, data in [*FTP_START, (0, b"PWD\r\n" * 1000)]:
        one_segment(flow, side, data)
    flow = connect(cap, 80, 4 * i + 3)
    one_segment(flow, 0, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n" * 500)


@entry("flows of several protocols, each a little below its limits", "slow exhaustion of state",
       sets=["app-layer.protocols.mqtt.enabled=yes"])
def below_limits(cap, size):
    if size is not None:
        pages(cap, size)
        return
    for i in range(8):
        below(cap, i)
    for i in range(8):                  # and then a byte of a next message in each
        flow = connect(cap, 1883, 4000 + i)
        for side, data in [*MQTT_START, (0, mqtt(12, b"")[:1])]:
            one_segment(flow, side, data)
