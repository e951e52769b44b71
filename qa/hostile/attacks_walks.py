# SPDX-License-Identifier: GPL-2.0-or-later
"""Attacks on what a flow or a table keeps: entries that one message makes long, and that the
next ones look through."""
import struct

from attacks_binary import SMB_ORDINARY, SMB_START, smb2
from attacks_http import pages
from attacks_mail import dialogue, sip
from attacks_tables import behind_hole, wide
from catalogue import connect, entry, one_segment, rounds
from pcapgen import dns_answer, dns_query

SOURCE = "Crosby and Wallach 2003; look-ups that walk what is kept"
FRAMES = 'alert smb any any -> any any (frame:smb2.data; content:"nowhere at all"; sid:1;)\n'


def over_tcp(message):
    return struct.pack(">H", len(message)) + message


DNS_PAIR = [(0, over_tcp(dns_query(1, "a.b"))), (1, over_tcp(dns_answer(1, "a.b", ["10.0.0.7"])))]


@entry("DNS over TCP: answers in one piece behind a hole", SOURCE, proto="dns", short=True)
def walk_dns_answers(cap, size):
    if size is not None:
        dialogue(cap, size, 53, DNS_PAIR, [], DNS_PAIR)
        return
    flow = wide(cap, 53)
    for side, part in DNS_PAIR:
        one_segment(flow, side, part)
    behind_hole(flow, 1, b"".join(over_tcp(struct.pack(">HHHHHH", i, 0x8180, 0, 0, 0, 0))
                                  for i in range(65000)))


@entry("HTTP: byte ranges of a file each", SOURCE, proto="http", short=True)
def walk_range_files(cap, size):
    if size is not None:
        pages(cap, size, 300)
        return
    flow = connect(cap, 80)
    for i in range(20000):
        flow.to_server(b"GET /%d HTTP/1.1\r\nHost:a\r\n\r\n" % i)
        flow.to_client(b"HTTP/1.1 206 a\r\nContent-Length:1\r\nContent-Range:bytes 5-5/9\r\n\r\nx")


@entry("SMB: a message of 15 MB of chained records, each with frames", SOURCE, rules=FRAMES,
       proto="smb")
def walk_smb_frames(cap, size):
    record = smb2(13, 7, b"\4\0\0\0\0\0\0\0")[4:]
    chained = record[:20] + struct.pack("<I", len(record)) + record[24:]
    body = chained * (15000000 // len(record)) + record
    dialogue(cap, size, 445, SMB_START, [(0, struct.pack(">I", len(body)) + body)], SMB_ORDINARY)


@entry("SIP over TCP: headers without end, a byte for each packet",
       "Slowloris, 2009; a message parsed again with each piece", proto="sip", short=True)
def walk_sip_bytes(cap, size):
    if size is not None:
        for i in rounds(cap, size, 0):
            flow = connect(cap, 5060, i)
            for byte in sip(b"Contact: <sip:a@a>\r\n"):
                flow.data(0, bytes([byte]))
        return
    flow = connect(cap, 5060)
    one_segment(flow, 0, sip(b"v: a\r\n" * 15000)[:-2])
    for byte in b"v: a\r\n" * 700:
        flow.data(0, bytes([byte]))
