# SPDX-License-Identifier: GPL-2.0-or-later
"""Attacks on transactions that stay open: requests without answers, then packets of a few bytes.
What a packet costs must not depend on how much is open."""
import struct

from attacks_binary import (BIND, ACCEPTED, DNP_ON, ENIP_ON, ENIP_ORDINARY, MQTT_ORDINARY,
                            MQTT_START, NFS_ORDINARY, PG_ON, PG_ORDINARY, PG_START, PROTOCOLS,
                            RPC_ORDINARY, SMB_ORDINARY, SMB_START, call, cip, create, enip, handle,
                            lookup, modbus, mqtt, pg, publish, read2, reply, smb2, sunrpc,
                            sunrpc_reply)
from attacks_crypto import LDAP_ORDINARY, LDAP_PRESENT, ldap_message, ldap_search
from attacks_http import pages
from attacks_mail import FTP_ORDINARY, FTP_START, POP3_START, dialogue
from catalogue import ber, connect, entry, host, one_segment, rounds
from pcapgen import dns_query

SOURCE = "Crosby and Wallach 2003; requests that stay open, then tiny packets"
MODBUS_ORDINARY = [part for i in range(10) for part in (
    (0, modbus(i, b"\3\0\0\0\1")), (1, modbus(i, b"\3\2\0\1")))]
POP3_ORDINARY = [(0, b"STAT\r\n"), (1, b"+OK 3 300\r\n")] * 5


def trickle(data, count=4500):
    """The bytes of a message without end, each in a packet of its own."""
    return [(0, data[i % len(data):][:1]) for i in range(count)]


def open_entry(name, what, port, start, fill, tail, ordinary, **options):
    def make(cap, size):
        if size is not None:
            dialogue(cap, size, port, start, [], ordinary)
            return
        flow = connect(cap, port)
        for side, data in [*start, (0, fill())]:
            one_segment(flow, side, data)
        for side, data in tail():
            flow.data(side, data)           # acknowledged: each byte is parsed by itself
    make.__name__ = "open_" + name
    entry(what, SOURCE, **options)(make)


open_entry("mqtt", "MQTT: messages that stay open, then a byte for each packet", 1883, MQTT_START,
           lambda: b"".join(publish(i) for i in range(1, 1020)),
           lambda: trickle(mqtt(3, b"\0\3a/b" + b"x" * 60000)), MQTT_ORDINARY, proto="mqtt",
           short=True)
open_entry("enip", "ENIP: requests that stay open, then a byte for each packet", 44818, [],
           lambda: b"".join(enip(0x6f, cip(1), i) for i in range(1000)),
           lambda: trickle(enip(0x6f, b"x" * 60000)), ENIP_ORDINARY, sets=ENIP_ON, proto="enip",
           short=True)
open_entry("dcerpc", "DCE/RPC: calls that stay open, then a byte for each packet", 135,
           [(0, BIND), (1, ACCEPTED)], lambda: b"".join(call(i) for i in range(2, 1020)),
           lambda: trickle(call(5, b"x" * 60000)), RPC_ORDINARY, proto="dcerpc", short=True)
open_entry("nfs", "NFS: calls that stay open, then a byte for each packet", 2049, [],
           lambda: b"".join(lookup(i) for i in range(1020)),
           lambda: trickle(sunrpc(9999, 7, b"x" * 60000)), NFS_ORDINARY, proto="nfs", short=True)
open_entry("smb", "SMB: requests that stay open, then a byte for each packet", 445, SMB_START,
           lambda: b"".join(create(i, f"f{i}") for i in range(1, 1000)),
           lambda: trickle(b"\0\1\0\0" + b"x" * 60000), SMB_ORDINARY, proto="smb", short=True)
open_entry("ldap", "LDAP: requests that stay open, then a byte for each packet", 389, [],
           lambda: b"".join(ldap_message(i, ldap_search(LDAP_PRESENT)) for i in range(1, 250)),
           lambda: trickle(ldap_message(9999, ber(0x63, b"x" * 60000))), LDAP_ORDINARY,
           proto="ldap", short=True)
open_entry("modbus", "Modbus: requests that stay open, then a byte for each packet", 502, [],
           lambda: b"".join(modbus(i, b"\3\0\0\0\1") for i in range(990)),
           lambda: trickle(modbus(9, b"\x10\0\0\0\x60\xc0" + b"x" * 192)), MODBUS_ORDINARY,
           sets=[PROTOCOLS + "modbus.enabled=yes"], proto="modbus", short=True)
open_entry("pgsql", "PostgreSQL: queries that stay open, then a byte for each packet", 5432,
           PG_START, lambda: pg(b"Q", b"x\0") * 1000, lambda: trickle(pg(b"Q", b"x" * 60000)),
           PG_ORDINARY, sets=PG_ON, proto="pgsql", short=True)
open_entry("ftp", "FTP: commands that stay open, then a byte for each packet", 21, FTP_START,
           lambda: b"NOOP\r\n" * 1000, lambda: trickle(b"a"), FTP_ORDINARY, proto="ftp")
open_entry("pop3", "POP3: commands that stay open, then a byte for each packet", 110, POP3_START,
           lambda: b"NOOP\r\n" * 250, lambda: trickle(b"a"), POP3_ORDINARY, proto="pop3")


@entry("HTTP: pipelined requests that stay open, then a byte for each packet", SOURCE,
       proto="http", short=True)
def open_http(cap, size):
    if size is not None:
        pages(cap, size)
        return
    flow = connect(cap, 80)
    one_segment(flow, 0, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n" * 500)
    flow.to_server(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n")
    for _ in range(4500):
        flow.to_server(b"a")


@entry("HTTP: pipelined requests answered a byte at a time", SOURCE, proto="http")
def open_http_answers(cap, size):
    if size is not None:
        pages(cap, size)
        return
    flow = connect(cap, 80)
    one_segment(flow, 0, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n" * 500)
    flow.to_client(b"HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n")
    for _ in range(4500):
        flow.to_client(b"a")


def udp_entry(name, what, port, message, ordinary=None, count=9000, **options):
    def make(cap, size):
        for i in rounds(cap, size, count):
            if size is None:
                cap.udp("10.0.0.1", 700, "192.168.0.1", port, message(i))
            else:
                cap.udp(host(i % 200), 700, "192.168.0.1", port, (ordinary or message)(i))
    make.__name__ = "open_" + name
    entry(what, SOURCE, **options)(make)


def dcerpc_udp(i):
    return struct.pack("<BBBB3sB16s16s16sIIIHHHHHBB", 4, 0, 0x28, 0, b"\x10\0\0", 0, b"o" * 16,
                       b"i" * 16, struct.pack("<IIII", i, 7, 7, 7), 0, 1, i, 0, 0xffff, 0xffff, 4, 0,
                       0, 0) + b"stub"


udp_entry("dcerpc_udp", "DCE/RPC over UDP: calls of an activity each, without an answer", 135,
          dcerpc_udp, proto="dcerpc", short=True)
udp_entry("ldap_udp", "LDAP over UDP: searches without an answer", 389, lambda i: ldap_message(
    1 + i, ldap_search(LDAP_PRESENT)), proto="ldap", short=True)
udp_entry("enip_udp", "ENIP over UDP: requests without an answer", 44818, lambda i: enip(
    0x63, b"", i), sets=ENIP_ON, proto="enip", short=True)


@entry("DNS over TCP: queries, a byte for each packet", SOURCE, proto="dns")
def open_dns_tcp(cap, size):
    query = dns_query(1, "a.b")
    dialogue(cap, size, 53, [], [(0, (struct.pack(">H", len(query)) + query) * 250)] +
             trickle(struct.pack(">HH", 60000, 5) + b"x"), [
                 (0, struct.pack(">H", len(query)) + query)])
