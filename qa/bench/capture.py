# SPDX-License-Identifier: GPL-2.0-or-later
"""A capture that is the same each time it is made, for measuring: web pages small and large,
look-ups, mail, logins, file transfers, TLS handshakes, scans, and data that is nothing."""
import os
import random
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.dirname(HERE))
from pcapgen import (ACK, PSH, RST, SYN, Capture, TcpFlow, dns_answer, dns_query,  # noqa: E402
                     http_request, http_response)

RULES = ["decoder-events", "stream-events", "app-layer-events", "http-events", "dns-events",
         "tls-events", "smtp-events", "ftp-events", "ssh-events", "files", "sample"]
WORDS = ("the quick brown fox jumps over a lazy dog while select union admin login index page "
         "search result image script style token session cookie value update").split()


class Maker:
    def __init__(self):
        self.cap, self.random, self.port = Capture(), random.Random(20240131), 1024
        self.book = " ".join(self.random.choices(WORDS, k=20000)).encode()

    def client(self):
        self.port = 1024 + (self.port - 1023) % 60000
        return f"10.0.{self.random.randrange(20)}.{self.random.randrange(1, 250)}", self.port

    def flow(self, sport, server="192.168.1.80"):
        flow = TcpFlow(self.cap, *self.client(), server, sport)
        flow.open()
        return flow

    def text(self, size):
        at = self.random.randrange(len(self.book) - size)
        return self.book[at:at + size]

    def web(self, size, requests=1):
        flow = self.flow(80)
        for n in range(requests):
            path = f"/{self.random.choice(WORDS)}/{self.random.choice(WORDS)}.html?id={n}"
            flow.to_server(http_request("www.example.org", path, headers=[
                "Accept: */*", "Accept-Language: en", "Cookie: session=" + "a1b2" * 8]))
            flow.to_client(http_response(self.text(size)))
        flow.close()

    def lookup(self):
        host, port = self.client()
        ident, name = self.random.randrange(65536), f"{self.random.choice(WORDS)}.example.org"
        self.cap.udp(host, port, "192.168.1.53", 53, dns_query(ident, name))
        self.cap.udp("192.168.1.53", 53, host, port, dns_answer(ident, name, ["192.0.2.17"]))

    def mail(self):
        flow = self.flow(25)
        for say, answer in ((None, b"220 mail.example.org ESMTP\r\n"),
                            (b"EHLO client.example\r\n", b"250-hello\r\n250 8BITMIME\r\n"),
                            (b"MAIL FROM:<a@example.org>\r\n", b"250 ok\r\n"),
                            (b"RCPT TO:<b@example.org>\r\n", b"250 ok\r\n"),
                            (b"DATA\r\n", b"354 go on\r\n"),
                            (b"Subject: words\r\nMIME-Version: 1.0\r\n\r\n" + self.text(900) +
                             b"\r\n.\r\n", b"250 taken\r\n"),
                            (b"QUIT\r\n", b"221 bye\r\n")):
            if say:
                flow.to_server(say)
            flow.to_client(answer)
        flow.close()

    def transfer(self):
        flow = self.flow(21)
        flow.to_client(b"220 ready\r\n")
        for say, answer in ((b"USER anonymous\r\n", b"331 who\r\n"), (b"PASS x\r\n", b"230 in\r\n"),
                            (b"CWD /pub\r\n", b"250 there\r\n"), (b"QUIT\r\n", b"221 bye\r\n")):
            flow.to_server(say)
            flow.to_client(answer)
        flow.close()

    def login(self):
        flow = self.flow(22)
        flow.to_client(b"SSH-2.0-OpenSSH_9.2p1\r\n")
        flow.to_server(b"SSH-2.0-OpenSSH_9.2p1\r\n")
        for _ in range(6):
            flow.data(self.random.randrange(2), self.random.randbytes(300))
        flow.close()

    def hello(self):
        """TLS 1.2: a client hello, an alert in answer."""
        name = b"www.example.org"
        sni = struct.pack(">HHHBH", 0, len(name) + 5, len(name) + 3, 0, len(name)) + name
        body = b"\x03\x03" + self.random.randbytes(32) + b"\0" + \
            struct.pack(">H6s", 6, bytes.fromhex("c02bc02f009c")) + b"\x01\0" + \
            struct.pack(">H", len(sni)) + sni
        shake = b"\x01" + len(body).to_bytes(3, "big") + body
        flow = self.flow(443)
        flow.to_server(b"\x16\x03\x01" + struct.pack(">H", len(shake)) + shake)
        flow.to_client(b"\x15\x03\x03\0\x02\x02\x28")
        flow.close()

    def scan(self):
        host, port = self.client()
        for n in range(10):
            self.cap.tcp(host, port, "192.168.1.9", 100 + n, 1, 0, SYN)
            self.cap.tcp("192.168.1.9", 100 + n, host, port, 0, 2, RST | ACK)

    def noise(self):
        flow = self.flow(self.random.randrange(2000, 60000))
        for _ in range(8):
            flow.send(0, PSH | ACK, self.random.randbytes(self.random.randrange(20, 1400)))
            flow.send(1, ACK)
        flow.close()


def make(rounds):
    maker = Maker()
    for _ in range(rounds):
        for scene in (lambda: maker.web(400, 3), lambda: maker.web(20000), maker.lookup,
                      maker.lookup, maker.mail, maker.transfer, maker.login, maker.hello,
                      maker.scan, maker.noise):
            scene()
    return maker.cap


def write(path, rounds):
    make(rounds).write(path)


def write_empty(path):
    Capture().write(path)


def command(binary, pcap, directory, rules=None):
    """How the engine is run to be measured."""
    if rules is None:
        rules = os.path.join(directory, "all.rules")
        with open(rules, "w", encoding="utf-8") as out:
            for name in RULES:
                with open(os.path.join(TOP, "rules", name + ".rules"), encoding="utf-8") as file:
                    out.write(file.read())
    return [binary, "-c", os.path.join(TOP, "suricata.yaml"), "-r", pcap, "-l", directory, "-S",
            rules, "--runmode", "single", "--no-random",
            "--set", f"classification-file={TOP}/rules/classification.config",
            "--set", f"reference-config-file={TOP}/rules/reference.config",
            "--set", "stats.interval=3600"]
