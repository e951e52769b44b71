# SPDX-License-Identifier: GPL-2.0-or-later
"""A logon that is refused: AS-REQ and KRB-ERROR over UDP."""
from pcapgen import Capture


def der(tag, *parts):
    body = b"".join(parts)
    return bytes([tag, len(body)] if len(body) < 128 else [tag, 0x81, len(body)]) + body


def number(value):
    return der(2, bytes([value]))


def name(kind, *parts):
    return der(0x30, der(0xa0, number(kind)),
               der(0xa1, der(0x30, *[der(0x1b, part) for part in parts])))


def capture():
    cap = Capture()
    body = der(0x30, der(0xa0, der(3, bytes(5))), der(0xa1, name(1, b"ann")),
               der(0xa2, der(0x1b, b"EX.ORG")), der(0xa3, name(2, b"krbtgt", b"EX.ORG")),
               der(0xa5, der(0x18, b"20300101000000Z")), der(0xa7, number(7)),
               der(0xa8, der(0x30, number(18))))
    cap.udp("10.0.0.1", 4000, "10.0.0.2", 88,
            der(0x6a, der(0x30, der(0xa1, number(5)), der(0xa2, number(10)), der(0xa4, body))))
    cap.udp("10.0.0.2", 88, "10.0.0.1", 4000,
            der(0x7e, der(0x30, der(0xa0, number(5)), der(0xa1, number(30)),
                          der(0xa4, der(0x18, b"20300101000000Z")), der(0xa5, number(0)),
                          der(0xa6, number(25)), der(0xa9, der(0x1b, b"EX.ORG")),
                          der(0xaa, name(2, b"krbtgt", b"EX.ORG")))))
    return cap
