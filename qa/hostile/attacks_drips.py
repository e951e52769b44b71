# SPDX-License-Identifier: GPL-2.0-or-later
"""Attacks byte by byte on messages that never end, on long lists of names, on what is asked for by
requests that stay open, and on the text of alert-debug."""
import random
import struct
import zlib

from attacks_binary import MQTT_ORDINARY, MQTT_START, PROTOCOLS, mqtt, mstr
from attacks_http import pages
from attacks_mail import dialogue, sip
from catalogue import ber, ber_int, connect, entry, host, one_segment, rounds
from pcapgen import ACK, PSH, dns_query

SLOW = "Slowloris, 2009; a message looked at again with each piece"
NAMES = "Crosby and Wallach 2003; names that are looked up one by one"
GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
GO_ON = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


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


def answer(cap, i, data):
    flow = connect(cap, 80, i)
    flow.to_server(GET)
    one_segment(flow, 1, data)
    flow.close(1)


def header(fields):
    return b"HTTP/1.1 200 OK\r\n" + fields + b"Content-Length: 1\r\n\r\nx"


@page_entry("an answer of a thousand headers", NAMES, short=True)
def names_answer(cap):
    for i in range(120):
        answer(cap, i, header(b"".join(b"%04x:\r\n" % j for j in range(1020))))


@page_entry("an answer of a thousand headers that is read again because of a line without a colon",
            NAMES, short=True)
def names_odd(cap):
    for i in range(120):
        answer(cap, i, header(b"b\r\n" + b"".join(b"%04x:\r\n" % j for j in range(1010))))


@page_entry("a request of a thousand headers", NAMES)
def names_request(cap):
    for i in range(120):
        flow = connect(cap, 80, i)
        one_segment(flow, 0, GET[:-2] + b"".join(b"%04x:\r\n" % j for j in range(1020)) + b"\r\n")
        flow.to_client(GO_ON)


@page_entry("headers whose long names differ at the end only", NAMES, short=True)
def names_alike(cap):
    for i in range(3):
        answer(cap, i, header(b"".join(b"a" * 300 + b"%04x:\r\n" % j for j in range(1020))))


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


@page_entry("alerts that each look for the client in a long list of headers", NAMES,
            rules='alert tcp any any -> any any (msg:"a"; content:"q"; sid:1;)\n',
            sets=["outputs.1.eve-log.xff." + setting for setting in (
                "enabled=yes", "mode=extra-data", "deployment=reverse", "header=X-Forwarded-For")])
def names_forwarded(cap):
    for i in range(3):
        flow = connect(cap, 80, i)
        one_segment(flow, 0, b"POST / HTTP/1.1\r\nHost: a\r\n" + b"".join(
            b"X-F%d: 1.2.3.4\r\n" % j for j in range(900)) + b"X-Forwarded-For: " +
                    b"1.2.3.4, " * 1500 + b"\r\nContent-Length: 90000\r\n\r\n")
        for _ in range(2500):
            flow.to_server(b"q")


def value_rules(proto, names):
    return "".join(f"alert {proto} any any -> any any ({name}; {test}; sid:{3 * i + j + 1};)\n"
                   for i, name in enumerate(names) for j, test in enumerate((
                       'content:"nowhere"', 'content:!"nowhere"; content:"at all"',
                       'pcre:"/^nowh[e]re/"')))


@entry("DNS: rules on each of many questions", NAMES, proto="dns",
       rules=value_rules("dns", ("dns.query", "dns.queries.rrname")))
def names_questions(cap, size):
    many = b"\1a\1b\0\0\1\0\1" + b"\xc0\x0c\0\1\0\1" * 229
    for i in rounds(cap, size, 600):
        head = struct.pack(">HHHHHH", i & 0xffff, 0x100, 230, 0, 0, 0)
        cap.udp(host(i % 100), 5000, "192.168.0.1", 53, head + many if size is None else
                dns_query(i & 0xffff, "abc.example.com"))


@entry("MQTT: rules on each of many topics", NAMES, proto="mqtt",
       rules=value_rules("mqtt", ("mqtt.subscribe.topic", "mqtt.unsubscribe.topic")),
       sets=[PROTOCOLS + "mqtt.subscribe-topic-match-limit=-1"])
def names_topics(cap, size):
    dialogue(cap, size, 1883, MQTT_START, [
        (0, mqtt(8, struct.pack(">H", i) + (mstr(b"a") + b"\0") * 12000, 2))
        for i in range(1, 15)], MQTT_ORDINARY)


@page_entry("alerts whose text shows what waits in the stream, again and again",
            "log amplification: dumps", short=True, reaches="alert_debug.dumps_cut",
            sets=["outputs.4.alert-debug.enabled=yes"],
            rules='alert http any any -> any any (msg:"a"; http.method; content:"GET"; sid:1;)\n')
def alert_debug_dumps(cap):
    flow = connect(cap, 80)
    for _ in range(3000):
        flow.to_server(GET)
        flow.to_client(GO_ON)


@entry("flow variables: each packet captures a key that no other has", NAMES, short=True,
       rules='alert udp any any -> any any (content:"k"; pcre:"/k(\\w+)=(\\w+)/, flow:key, flow:value"; '
             'noalert; sid:1;)\n')
def names_captured(cap, size):
    for i in rounds(cap, size, 10000):
        cap.udp("10.0.0.1", 4000, "192.168.0.1", 4000,
                b"k" + b"%0250d=b" % (i if size is None else i % 5))
