# SPDX-License-Identifier: GPL-2.0-or-later
"""Queries for names below, at, above and beside the domains of the list."""
from pcapgen import Capture, dns_query


def capture():
    cap = Capture()
    for i, name in enumerate(("www.mail.evil.example", "evil.example", "notevil.example", "example",
                              "good.example", "a.sub.good.example", "x." * 100 + "evil.example")):
        cap.udp("10.0.0.1", 4000 + i, "10.0.0.2", 53, dns_query(i + 1, name))
    return cap
