# SPDX-License-Identifier: GPL-2.0-or-later
"""mixed.py INTERFACE STOP RATE: frames of all kinds, RATE a second, until the file STOP is there.

Rounds of qa/no-alloc's traffic (HTTP, DNS, TLS, SMTP, SSH, FTP, fragments, ICMP), each between other
ports. Every 40th frame goes out with some bytes changed, cut short or twice."""
import os
import random
import socket
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), os.path.join(os.path.dirname(HERE), "no-alloc")]
from pcapgen import Capture  # noqa: E402
import traffic  # noqa: E402

BROKEN = 40
BURST = 0.05


def broken(frame, dice):
    kind = dice.randrange(3)
    if kind == 0:
        return [frame, frame]
    if kind == 1:
        return [frame[:dice.randrange(14, len(frame) + 1)]]
    data = bytearray(frame)
    for _ in range(dice.randrange(1, 5)):
        data[dice.randrange(14, len(data))] = dice.randrange(256)
    return [bytes(data)]


def frames():
    dice, said, number = random.Random(1), traffic.handshake(), 0
    while True:
        capture = Capture()
        traffic.make_round(capture, number, said)
        for _, frame in capture.frames:
            yield from broken(frame, dice) if dice.randrange(BROKEN) == 0 else [frame]
        number += 1


def main():
    interface, stop, rate = sys.argv[1], sys.argv[2], int(sys.argv[3])
    out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    out.bind((interface, 0))
    sent, source = 0, frames()
    while not os.path.exists(stop):
        for _ in range(int(rate * BURST)):
            try:
                out.send(next(source))
                sent += 1
            except OSError:
                pass            # the link is down, or the frame too long for it
        time.sleep(BURST)
    print(f"{sent} frames")


main()
