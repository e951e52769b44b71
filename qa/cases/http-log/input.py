# SPDX-License-Identifier: GPL-2.0-or-later
"""Requests with what a log must take care of: bytes that cannot be printed, cookies, no host."""
from pcapgen import Capture, TcpFlow


def capture():
    cap = Capture()
    flow = TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 80)
    flow.open()
    flow.to_server(b"GET /a\"b\\c?\x01\xff HTTP/1.1\r\nHost: a.example\r\n"
                   b"User-Agent: \"quoted\" \xc3\xa9\r\nReferer: http://b.example/\\\r\n"
                   b"X-Forwarded-For: 192.0.2.1, 192.0.2.2\r\nCookie: one=1; two=22;x; three=333\r\n\r\n")
    flow.to_client(b"HTTP/1.1 302 Found\r\nLocation: /else\twhere\r\nServer: some/1\r\n"
                   b"Content-Length: 5\r\n\r\nhello")
    flow.to_server(b"POST /two HTTP/1.0\r\nContent-Length: 3\r\nCookie: three=3\r\n\r\nabc")
    flow.to_client(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    flow.to_server(b"GET /three HTTP/1.1\r\nHost: c.example\r\nCookie: two=; three=\r\n\r\n")
    flow.close()
    return cap
