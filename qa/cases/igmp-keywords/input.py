# SPDX-License-Identifier: GPL-2.0-or-later
"""Queries of versions 1 to 3, reports of versions 2 and 3, RGMP, a wrong checksum, and messages cut
short within their sources and records."""
import struct

from pcapgen import Capture, address, checksum

GROUP = address("239.1.2.3")


def message(kind, code=0, rest=GROUP, wrong=0):
    body = struct.pack(">BBH", kind, code, 0) + rest
    return body[:2] + struct.pack(">H", checksum(body) ^ wrong) + body[4:]


def capture():
    cap = Capture()
    v3_query = GROUP + struct.pack(">BBH", 2, 125, 2) + address("10.0.0.8") + address("10.0.0.9")
    record = struct.pack(">BBH", 4, 1, 1) + GROUP + address("10.0.0.8") + b"extra"[:4]
    v3_report = struct.pack(">HH", 0, 2) + record + record
    for body in (message(0x11), message(0x11, 100), message(0x11, 100, v3_query),
                 message(0x16), message(0x22, 0, v3_report), message(0xff), message(0x16, wrong=1),
                 message(0x11, 100, v3_query[:-1]), message(0x22, 0, v3_report[:-1]),
                 message(0x16)[:7]):
        cap.ip("10.0.0.1", "224.0.0.22", 2, body, ttl=1)
    cap.udp("10.0.0.1", 4000, "10.0.0.2", 5000, b"\x16 no message of IGMP")
    return cap
