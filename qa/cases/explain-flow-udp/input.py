# SPDX-License-Identifier: GPL-2.0-or-later
from pcapgen import Capture, dns_answer, dns_query


def capture():
    cap = Capture()
    cap.udp("10.0.0.1", 5000, "10.0.0.3", 53, dns_query(7, "example.com"))
    cap.udp("10.0.0.3", 53, "10.0.0.1", 5000, dns_answer(7, "example.com", ["10.0.0.9"]))
    return cap
