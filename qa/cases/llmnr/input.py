# SPDX-License-Identifier: GPL-2.0-or-later
"""A query to the group, its answer in a flow of its own, and the same over TCP; a name that is no
host's; and a message of DNS on its port."""
import struct

from pcapgen import Capture, TcpFlow, address, dns_name, dns_query


def message(flags, name, *records, authorities=(), additionals=()):
    return struct.pack(">HHHHHH", 7, flags, 1, len(records), len(authorities), len(additionals)) + \
        dns_name(name) + struct.pack(">HH", 1, 1) + b"".join((*records, *authorities, *additionals))


def record(name, kind, data):
    return dns_name(name) + struct.pack(">HHIH", kind, 1, 30, len(data)) + data


def capture():
    cap = Capture()
    query = message(0, "workstation")
    answer = message(0x8000, "workstation", record("workstation", 1, address("10.0.0.2")),
                     record("workstation", 5, dns_name("malicious.local")),
                     authorities=[record("local", 2, dns_name("ns.local"))],
                     additionals=[record("ns.local", 1, address("10.0.0.9"))])
    cap.udp("10.0.0.1", 50000, "224.0.0.252", 5355, query)
    cap.udp("10.0.0.2", 5355, "10.0.0.1", 50000, answer)
    flow = TcpFlow(cap, "10.0.0.1", 50001, "10.0.0.2", 5355)
    flow.open()
    flow.to_server(struct.pack(">H", len(query)) + query)
    flow.to_client(struct.pack(">H", len(answer)) + answer)
    flow.close()
    cap.udp("10.0.0.1", 50002, "224.0.0.252", 5355, message(0x0100, "WPAD"))
    cap.udp("10.0.0.1", 50003, "10.0.0.53", 53, dns_query(1, "workstation"))
    return cap
