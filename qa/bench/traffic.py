#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""traffic.py FOLDER [NAME...]: captures of web traffic that is not plain, the same each time.

    gzip        pages of 2 to 60 KB, packed by gzip
    multipart   uploads by forms: random bytes of 10 to 200 KB in parts
    lossy       pages of which 1 % of the packets are missing, 5 % late and 2 % there twice

Each has some 60 to 90 MB. `run --traces FOLDER` measures the engine on them."""
import gzip
import os
import random
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from pcapgen import Capture, TcpFlow, http_request, http_response     # noqa: E402

VOWELS, CONSONANTS = "aeiou", "bcdfghklmnprstvw"


class Maker:
    def __init__(self):
        self.random, self.cap, self.count = random.Random(20261127), Capture(), 0
        self.words = ["".join(self.random.choice(CONSONANTS) + self.random.choice(VOWELS)
                              for _ in range(self.random.randrange(1, 5))) for _ in range(6000)]
        weights = [1 / (n + 5) for n in range(len(self.words))]
        self.text = self.random.choices(self.words, weights, k=400000)

    def page(self, size):
        """Text with markup; no two pages are alike."""
        out, have = ["<!DOCTYPE html><html><body>"], 0
        while have < size:
            at = self.random.randrange(len(self.text) - 40)
            part = (f'<div class="c{self.random.randrange(40)}"><p id="p{have}">'
                    f'{" ".join(self.text[at:at + self.random.randrange(5, 40)])}</p></div>\n')
            out.append(part)
            have += len(part)
        return "".join(out).encode()[:size]

    def size(self, least, most):
        """Small ones are more frequent."""
        return int(least * (most / least) ** self.random.random())

    def flow(self, cap):
        self.count += 1
        client = f"10.{self.count >> 14 & 63}.{self.count >> 7 & 127}.{1 + (self.count & 127)}"
        flow = TcpFlow(cap, client, 1024 + self.count % 60000,
                       f"203.0.113.{1 + self.random.randrange(200)}", 80,
                       seq=self.random.getrandbits(32), ack=self.random.getrandbits(32))
        flow.open()
        return flow

    def request(self, method="GET", body=b"", headers=()):
        path = "/".join(self.random.choices(self.words, k=3))
        return http_request(f"www.{self.random.choice(self.words)}.example",
                            f"/{path}.html?q={self.random.randrange(10 ** 6)}", method=method,
                            body=body, headers=["Accept: */*", "Accept-Encoding: gzip", *headers])

    def gzip(self):
        for _ in range(4500):
            flow = self.flow(self.cap)
            for _ in range(self.random.randrange(1, 4)):
                body = gzip.compress(self.page(self.size(2000, 60000)), 6, mtime=0)
                flow.to_server(self.request())
                flow.to_client(http_response(body, headers=["Content-Encoding: gzip"]))
            flow.close()
        return self.cap

    def multipart(self):
        for _ in range(1300):
            flow, edge = self.flow(self.cap), f"----form{self.random.getrandbits(64):016x}"
            body = b"".join(
                f'--{edge}\r\nContent-Disposition: form-data; '
                f'name="{self.random.choice(self.words)}"{extra}\r\n\r\n'.encode() + value +
                b"\r\n" for extra, value in (
                    ("", b"a short value"),
                    ('; filename="photo.jpg"\r\nContent-Type: image/jpeg',
                     self.random.randbytes(self.size(10000, 200000))),
                    ("", b"another one"))) + f"--{edge}--\r\n".encode()
            flow.to_server(self.request(
                "POST", body, [f"Content-Type: multipart/form-data; boundary={edge}"]))
            flow.to_client(http_response(b"thanks"))
            flow.close()
        return self.cap

    def lossy(self):
        whole, late = Capture(), []
        for _ in range(3000):
            flow = self.flow(whole)
            for _ in range(self.random.randrange(1, 4)):
                flow.to_server(self.request())
                flow.to_client(http_response(self.page(self.size(1000, 60000))))
            flow.close()
        for when, data in whole.frames:
            while late and late[0][0] <= len(self.cap.frames):
                self.cap.frames.append((when, late.pop(0)[1]))
            fate = self.random.random()
            if fate < 0.05:
                late.append((len(self.cap.frames) + self.random.randrange(1, 8), data))
                late.sort(key=lambda entry: entry[0])
            elif fate >= 0.06:
                self.cap.frames += [(when, data)] * (2 if fate < 0.08 else 1)
        return self.cap


NAMES = ("gzip", "multipart", "lossy")


def main():
    if len(sys.argv) < 2 or not set(sys.argv[2:]) <= set(NAMES):
        sys.exit(__doc__)
    os.makedirs(sys.argv[1], exist_ok=True)
    for name in sys.argv[2:] or NAMES:
        getattr(Maker(), name)().write(os.path.join(sys.argv[1], f"{name}.pcap"))


if __name__ == "__main__":
    main()
