# SPDX-License-Identifier: GPL-2.0-or-later
"""Attacks on threads that share what rules keep: each packet has its thread wait for the others."""
from catalogue import entry, host, rounds

SOURCE = "lock convoys, Blasgen and others 1979; state that flows share"


def rule(options):
    return f'alert udp any any -> any any (content:"x"; {options} sid:1;)\n'


def packets(cap, size):
    for i in rounds(cap, size, 40000):
        at = i % 800
        if size is None:
            cap.udp(host(at), 4000 + i // 800 % 7, "192.168.0.1", 4000, b"x" * 20)
        else:
            cap.udp(host(at), 4000 + i // 800 % 7, host(at, 172), 4000, b"y" * 20)


@entry("rules: a count of all packets, in flows of all threads", SOURCE, short=True, rules=rule(
    "threshold:type threshold, track by_rule, count 1000000, seconds 60;"))
def threads_count(cap, size):
    packets(cap, size)


@entry("rules: a bit of a host that all threads set and clear", SOURCE, rules=rule(
    "xbits:toggle,a,track ip_dst; noalert;"))
def threads_bit(cap, size):
    packets(cap, size)
