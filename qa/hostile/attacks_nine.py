# SPDX-License-Identifier: GPL-2.0-or-later
"""Attacks on what rules of Suricata 9 ask for: rates of flows, Ethernet headers, traps, sums of
mails, transforms with keys, names of Kerberos messages, operation numbers."""
import struct

from attacks_binary import ACCEPTED, BIND, RPC_ORDINARY, call, dialogue
from attacks_crypto import krb_request
from attacks_http import TEXT, exchange, pages
from attacks_mail import mails, send_mail, smtp
from catalogue import ber, ber_int, connect, entry, host, rounds


def rules(proto, *options):
    return "".join(f'alert {proto} any any -> any any (msg:"a"; {text} sid:{sid};)\n'
                   for sid, text in enumerate(options, 1))


@entry("flow.elephant: flows that cross the rate again and again", "state that rules keep",
       short=True, sets=["flow.rate-tracking.bytes=500", "flow.rate-tracking.interval=1"],
       rules=rules("udp", *(f"flow.elephant:{way};" for way in
                            ("toserver", "toclient", "both", "either"))))
def nine_elephants(cap, size):
    for i in rounds(cap, size, 2000):
        client = host(i % 200 if size is None else i % 4)
        cap.udp(client, 5000, "192.168.0.1", 9999, b"a" * (450 if size is None else 100))
        cap.udp("192.168.0.1", 9999, client, 5000, b"b" * (450 if size is None else 100))


@entry("ether.hdr: frames of every type", "rules inspected on each frame", short=True,
       rules=rules("ether", *(f'ether.hdr; content:"|{n:02x} {n:02x}|"; offset:12;'
                              for n in range(60, 120))))
def nine_ethernet(cap, size):
    for i in rounds(cap, size, 6000):
        kind = i & 0xffff if size is None else 0x88b5
        cap.frame(struct.pack(">IHIHH", 0x02000000, i & 0xffff, 0x02000000, i & 0xffff, kind) +
                  bytes(46))


def trap(oid, address=b"\x0a\1\2\3"):
    pdu = ber(0xa4, ber(6, oid), ber(0x40, address), ber_int(1), ber_int(0), ber(0x43, b"\1"),
              ber(0x30))
    return ber(0x30, ber_int(0), ber(4, b"public"), pdu)


@entry("SNMP: traps whose enterprise has a thousand parts", "long object ids as text", short=True,
       proto="snmp", rules=rules("snmp", *(f'snmp.trap_oid; content:"no{n}";' for n in range(20)),
                                 *(f'snmp.trap_address; content:"nowhere{n}";' for n in range(20))))
def nine_traps(cap, size):
    for i in rounds(cap, size, 900):
        oid = b"\x2b" + b"\xff\x7f" * 600 if size is None else b"\x2b\6\1\4\1\5"
        cap.udp(host(i % 200), 5000, "192.168.0.1", 162, trap(oid))


@entry("MIME: the sum of mails of one byte a line", "work for each line", proto="smtp", short=True,
       sets=["app-layer.protocols.smtp.mime.body-md5=yes"],
       rules=rules("smtp", 'email.body_md5; content:"0123456789abcdef0123456789abcdef";'))
def nine_mail_sums(cap, size):
    if size is not None:
        mails(cap, size)
        return
    for i in range(4):
        send_mail(smtp(cap, i), b"From: a@example.com\r\n\r\n" + b"x\r\n" * 60000)


CHAIN = "subslice:1; xor:offset 1,extract 1 0; " * 8


@entry("rules: chains of subslice and of xor with its key inside", "transforms that copy",
       short=True, proto="http", rules=rules("http", *(f'file.data; {CHAIN}content:"nowhere{n}";'
                                           for n in range(6))))
def nine_transforms(cap, size):
    if size is not None:
        pages(cap, size)
        return
    for i in range(9):
        exchange(connect(cap, 80, i), None, TEXT[:88000])


@entry("Kerberos: rules on each name of a message", "rules inspected on each message", short=True,
       proto="krb5", rules=rules("krb5", *(f"krb5_msg_type:!{name};" for name in (
           "AS_REQ", "AP_REQ")), *("krb5_msg_type:ERROR;" for _ in range(40))))
def nine_kerberos(cap, size):
    for i in rounds(cap, size, 2000):
        cap.udp(host(i % 200), 5000 + i // 200, "192.168.0.1", 88, krb_request(
            ber(0x1b, b"a") * 200 if size is None else b""))


@entry("DCE/RPC: calls of many numbers, and rules on ranges of them",
       "rules inspected on each call", short=True, proto="dcerpc",
       rules=rules("dcerpc", *(f"dcerpc.opnum:>{n};" for n in range(60000, 60040)),
                   "dcerpc.opnum:" + ",".join(str(n) for n in range(60000, 60400)) + ";"))
def nine_calls(cap, size):
    dialogue(cap, size, 135, [(0, BIND), (1, ACCEPTED)],
             [(0, b"".join(call(i) for i in range(2, 20000)))], RPC_ORDINARY)
