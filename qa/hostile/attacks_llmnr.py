# SPDX-License-Identifier: GPL-2.0-or-later
"""Attacks on LLMNR: what its messages share with DNS, to its own port and over TCP."""
import struct

from attacks_names import head, rr
from catalogue import entry, host, rounds
from pcapgen import TcpFlow, dns_name

QUESTION = dns_name("workstation") + b"\0\1\0\1"


@entry("LLMNR: many records in answers", "log amplification: answers", proto="llmnr", short=True)
def llmnr_answers(cap, size):
    for i in rounds(cap, size, 600):
        many = 80 if size is None else 1
        cap.udp(host(i % 200), 5355, "192.168.0.1", 50000 + i // 200,
                head(i, 0x8000, 1, many) + QUESTION + rr(1, b"abcd") * many)


@entry("LLMNR: a query for each of many names", "flood of queries, none answered", proto="llmnr",
       short=True)
def llmnr_queries(cap, size):
    for i in rounds(cap, size, 600):
        name = "workstation-%d" % (i if size is None else 0)
        cap.udp(host(i % 200), 50000 + i // 200, "224.0.0.252", 5355,
                head(i, 0, 1) + dns_name(name) + b"\0\1\0\1")


@entry("LLMNR: messages over TCP that are longer than what comes", "lengths without data",
       proto="llmnr", short=True)
def llmnr_lengths(cap, size):
    query = head(7, 0, 1) + QUESTION
    for i in rounds(cap, size, 200):
        flow = TcpFlow(cap, host(i % 200), 50000 + i // 200, "192.168.0.1", 5355)
        flow.open()
        flow.to_server(struct.pack(">H", len(query)) + query)
        flow.to_server(struct.pack(">H", 0xffff if size is None else len(query)) + query)
        flow.close()
