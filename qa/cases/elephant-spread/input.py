# SPDX-License-Identifier: GPL-2.0-or-later
"""One flow of 600 full packets to the client, of which each tenth has the word of a rule, in bursts
that fill vectors; a packet in between closes a second flow."""
import pcapgen


def capture():
    cap = pcapgen.Capture()
    flow = pcapgen.TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 7777)
    other = pcapgen.TcpFlow(cap, "10.0.0.1", 40001, "10.0.0.2", 7777)
    flow.open()
    other.open()
    for i in range(600):
        word = b"needle %03d" % i if i % 10 == 0 else b"nothing    "
        flow.send(1, pcapgen.PSH | pcapgen.ACK, word + b"x" * 1200)
        if i % 4 == 3:
            flow.send(0, pcapgen.ACK)
        if i == 300:
            other.to_client(b"needle in a flow that is small")
            other.close()
    flow.close()
    return cap
