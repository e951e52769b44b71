# SPDX-License-Identifier: GPL-2.0-or-later
"""LDAP: a search that finds two entries, answered in three segments, then one that finds nothing;
DNS: a name with three addresses."""
import struct

from pcapgen import Capture, TcpFlow


def ber(tag, *parts):
    body = b"".join(parts)
    return bytes([tag, len(body)]) + body


def message(number, operation):
    return ber(0x30, ber(2, bytes([number])), operation)


def search(number):
    return message(number, ber(0x63, ber(4, b"dc=x"), ber(10, b"\2"), ber(10, b"\0"), ber(2, b"\0"),
                               ber(2, b"\0"), ber(1, b"\0"), ber(0x87, b"objectClass"), ber(0x30)))


def entry(number, name):
    return message(number, ber(0x64, ber(4, name), ber(0x30)))


def done(number, code):
    return message(number, ber(0x65, ber(10, bytes([code])), ber(4), ber(4)))


def question(flags, answers):
    return struct.pack(">6H", 7, flags, 1, answers, 0, 0) + b"\3www\1x\0" + struct.pack(">2H", 1, 1)


def answer():
    return question(0x8180, 3) + b"".join(
        b"\xc0\x0c" + struct.pack(">2HIH", kind, 1, 60, 4) + bytes([10, 0, 0, i])
        for i, kind in enumerate((1, 1, 99)))


def capture():
    cap = Capture()
    c = TcpFlow(cap, "10.0.0.1", 4000, "10.0.0.2", 389)
    c.open()
    c.to_server(search(1))
    c.to_client(entry(1, b"cn=a,dc=x"))
    c.to_client(entry(1, b"cn=b,dc=x"))
    c.to_client(done(1, 0))
    c.to_server(search(2))
    c.to_client(done(2, 32))
    c.close()
    cap.udp("10.0.0.1", 4001, "10.0.0.2", 53, question(0x100, 0))
    cap.udp("10.0.0.2", 53, "10.0.0.1", 4001, answer())
    return cap
