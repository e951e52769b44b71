# SPDX-License-Identifier: GPL-2.0-or-later
"""Floods that buy records with few bytes: flows of one packet, and rules that fire on each of them. The
entries run with the settings of doc/security.md for hostile surroundings."""
import struct

from catalogue import ACK, PSH, entry, host, rounds
from pcapgen import MAC_A

HOSTILE = ["log-limit.by-byte=10"]
ALERT = "outputs.1.eve-log.types.0.alert."
DETAILS = [ALERT + key + "=yes" for key in ("payload", "payload-printable", "packet")]


def rules(protocol, ends, count, option):
    return "".join(f'alert {protocol} any any -> any {ends} (msg:"flood {sid}"; {option}'
                   f'metadata:created_at 2026_01_01, tag flood; sid:{sid};)\n'
                   for sid in range(1, count + 1))


@entry("logs: fifteen alerts for each flow of one packet", "log amplification: stick and snot, 2001",
       short=True, reaches="log.left_out", sets=HOSTILE + DETAILS,
       rules=rules("udp", "4001", 15, 'content:"x"; '))
def flood_alerts(cap, size):
    for i in rounds(cap, size, 12000):
        cap.udp(host(i), i & 0xffff, "192.168.0.1", 4001 if size is None else 4002, b"x" * 4)


@entry("logs: fifteen alerts for each packet without a flow",
       "log amplification: stick and snot, 2001", reaches="log.left_out", sets=HOSTILE + DETAILS,
       rules=rules("pkthdr", "any", 15, "decode-event:ipv4.frag_pkt_too_large; "))
def flood_alerts_without_flow(cap, size):
    for i in rounds(cap, size, 12000):
        frame = struct.pack(">BBHHHBBH", 0x45, 0, 28, i & 0xffff,
                            0x1fff if size is None else 0, 64, 17, 0) + bytes(
                                [10, 0, i >> 8 & 255, i & 255, 192, 168, 0, 1])
        cap.frame(b"\2" * 6 + MAC_A + b"\x08\0" + frame + struct.pack(">HHHH", 4000, 4001, 8, 0))


@entry("logs: records of flow and netflow for each flow of an empty packet",
       "log amplification: port scan", short=True, reaches="log.left_out",
       sets=HOSTILE + ["outputs.1.eve-log.types.36=netflow"])
def flood_flows(cap, size):
    for i in rounds(cap, size, 16000):
        at = i if size is None else i % 10
        cap.udp(host(at), at & 0xffff, "192.168.0.1", 4001, b"")


@entry("logs: a request in one packet for each flow, picked up midstream",
       "log amplification: spoofed requests", reaches="log.left_out",
       sets=HOSTILE + ["stream.midstream=true"],
       rules=rules("http", "any", 15, 'http.method; content:"G"; '))
def flood_midstream(cap, size):
    for i in rounds(cap, size, 10000):
        at = i if size is None else i % 10
        cap.tcp(host(at), 1024 + at % 60000, "192.168.0.1", 80, 1 + (i // 10 if size else 0) * 18, 1,
                PSH | ACK, b"GET / HTTP/1.0\r\n\r\n")
