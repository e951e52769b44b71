# SPDX-License-Identifier: GPL-2.0-or-later
"""Attacks on what rules ask of SCTP, IGMP, names and ports: lists without end within a packet, and
counts of everything there is."""
import struct

from catalogue import entry, host, rounds
from pcapgen import SYN, dns_query

SCTP_RULES = "".join(
    f'alert sctp any any -> any any (msg:"a"; {options} sid:{sid};)\n' for sid, options in enumerate(
        ['sctp.chunk_type:forward_tsn;', 'sctp.chunk_cnt:0;', 'sctp.chunk_data; content:"zz";',
         'sctp.hdr; content:"zz";'] + [f'sctp.chunk_data; bsize:{n};' for n in range(40, 80)], 1))


@entry("SCTP: thousands of chunks in a packet", "work for each rule and chunk", rules=SCTP_RULES,
       short=True)
def sctp_empty_chunks(cap, size):
    data = struct.pack(">BBHIHHI", 0, 3, 17, 1, 2, 3, 4) + b"a\0\0\0"
    for i in rounds(cap, size, 60):
        chunks = struct.pack(">BBH", 4, 0, 4) * 15000 + data if size is None else data * 3000
        cap.ip(host(i % 200), "192.168.0.1", 132, struct.pack(">HHII", 4000, 5000, 7, 0) + chunks)


@entry("SCTP: thousands of DATA chunks in a packet", "work for each rule and chunk",
       rules=SCTP_RULES, short=True)
def sctp_data(cap, size):
    small = struct.pack(">BBHIHHI", 0, 3, 17, 1, 2, 3, 4) + b"a\0\0\0"
    large = struct.pack(">BBHIHHI", 0, 3, 60000, 1, 2, 3, 4) + b"a" * 59984
    for i in rounds(cap, size, 60):
        cap.ip(host(i % 200), "192.168.0.1", 132, struct.pack(">HHII", 4000, 5000, 7, 0) +
               (small * 3000 if size is None else large))


@entry("IGMP: reports with thousands of records", "lists within a header",
       rules='alert igmp any any -> any any (msg:"a"; igmp.hdr; content:"zz"; sid:1;)\n', short=True)
def igmp_records(cap, size):
    for i in rounds(cap, size, 60):
        records = (struct.pack(">BBHI", 4, 0, 0, 0xef000001) * 8000 if size is None else
                   struct.pack(">BBHI", 4, 0, 16000, 0xef000001) + bytes(64000))
        cap.ip(host(i % 200), "224.0.0.22", 2, struct.pack(
            ">BBHHH", 0x22, 0, 0, 0, 8000 if size is None else 1) + records)


@entry("datasets: names of many labels", "look-ups for each label", short=True,
       rules='alert dns any any -> any any (msg:"a"; dns.query; dotprefix; dataset:isset,nothing, '
             'type string, match subdomain; sid:1;)\n')
def dataset_labels(cap, size):
    for i in rounds(cap, size, 600):
        name = "a." * 120 + "example" if size is None else "a" * 60 + "." + "b" * 60 + ".example"
        cap.udp(host(i % 200), 5000 + i // 200, "192.168.0.1", 53, dns_query(i & 0xffff, name))


@entry("detection_filter: every port of many hosts", "state for each host and port", short=True,
       rules='alert tcp any any -> any any (msg:"a"; flow:stateless; detection_filter:track by_dst, '
             'count 60000, seconds 600, unique_on dst_port; sid:1;)\n')
def distinct_ports(cap, size):
    for i in rounds(cap, size, 20000):
        port = i // 20 + 1 if size is None else 80
        cap.tcp("10.0.0.1", 40000 + i % 20000, host(i % 20), port, 1000, 0, SYN)
