# SPDX-License-Identifier: GPL-2.0-or-later
"""Attacks byte by byte on messages that never end."""
import random
import struct
import zlib

from attacks_http import pages
from attacks_mail import dialogue, sip
from catalogue import ber, ber_int, connect, entry, one_segment
from pcapgen import ACK, PSH

SLOW = "Slowloris, 2009; a message looked at again with each piece"
GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"


def bytes_entry(what, source, port, start, ordinary, head, side=0, **options):
    """An entry that sends `head`, then each byte that the function gives in a packet of its own."""
    def add(make):
        def both(cap, size):
            if size is not None:
                dialogue(cap, size, port, start, [], ordinary)
                return
            flow = connect(cap, port)
            for sender, data in [*start, (side, head)]:
                one_segment(flow, sender, data)
                flow.send(1 - sender, ACK)
            for byte in make():
                flow.data(side, bytes([byte]))
        both.__name__ = make.__name__
        entry(what, source, **options)(both)
        return make
    return add


def page_entry(what, source, **options):
    def add(make):
        def both(cap, size):
            if size is not None:
                pages(cap, size)
            else:
                make(cap)
        both.__name__ = make.__name__
        entry("HTTP: " + what, source, proto="http", **options)(both)
        return make
    return add


@bytes_entry("telnet: a subnegotiation without end, a byte for each packet", SLOW, 23,
             [(1, b"\xff\xfd\x18\xff\xfd\x20"), (0, b"\xff\xfb\x18")],
             [(1, b"login: "), (0, b"root\r\n"), (1, b"password: "), (0, b"secret\r\n")] * 3,
             b"\xff\xfa\x18" + b"\xff\xff" * 60000, proto="telnet", short=True)
def drip_telnet():
    return b"\xff" * 5000


@bytes_entry("SIP over TCP: requests that stay open, then a byte for each packet", SLOW, 5060, [],
             [(0, sip(b"Content-Length: 0\r\n", 3))] * 3,
             b"".join(sip(b"Content-Length: 0\r\n", i) for i in range(255)), proto="sip")
def drip_open_sip():
    return b"a" * 4500


def kerberos(nonce):
    body = ber(0x6a, ber(0x30, ber(0xa1, ber_int(5)), ber(0xa2, ber_int(10)), ber(0xa4, ber(
        0x30, ber(0xa0, b"\3\5\0\0\0\0\0"), ber(0xa2, ber(0x1b, b"REALM")), ber(0xa5, ber(
            0x18, b"20370913024805Z")), ber(0xa7, ber_int(nonce)), ber(0xa8, ber(
                0x30, ber_int(18)))))))
    return struct.pack(">I", len(body)) + body


@bytes_entry("Kerberos over TCP: requests that stay open, then a byte for each packet", SLOW, 88, [],
             [(0, kerberos(3))] * 3, b"".join(kerberos(i) for i in range(255)) + b"\0\0\xff\xff",
             proto="krb5")
def drip_open_kerberos():
    return b"a" * 4500


@page_entry("an answer's header, a byte for each packet", SLOW)
def drip_answer(cap):
    flow = connect(cap, 80)
    flow.to_server(GET)
    one_segment(flow, 1, b"HTTP/1.1 200 OK\r\n" + b"".join(b"X%d: a\r\n" % i for i in range(900)))
    for byte in b"Y: " + b"a" * 6000:
        flow.to_client(bytes([byte]))


@page_entry("blanks before the status line, a byte for each packet", SLOW)
def drip_lead_in(cap):
    flow = connect(cap, 80)
    flow.to_server(GET)
    for _ in range(7000):
        flow.to_client(b" ")


@page_entry("gzip, a byte for each packet", SLOW)
def drip_gzip(cap):
    packer = zlib.compressobj(9, 8, 31)
    body = packer.compress(random.Random(3).randbytes(5000)) + packer.flush()
    flow = connect(cap, 80)
    flow.to_server(GET)
    flow.to_client(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n")
    for byte in body:
        flow.to_client(b"1\r\n%c\r\n" % byte)


@page_entry("CONNECT in CONNECT in CONNECT", "CVE-2005-2088 style; a parser for each exchange")
def drip_connects(cap):
    flow = connect(cap, 8080)
    for _ in range(5000):
        flow.send(0, PSH | ACK, b"CONNECT a HTTP/1.1\r\n\r\n")
        flow.send(1, PSH | ACK, b"HTTP/1.1 200 a\r\n\r\n")
