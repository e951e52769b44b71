# SPDX-License-Identifier: GPL-2.0-or-later
"""An HTTP response of which the body has the word of the rule once in each 4 KiB, and then a second
request in the same connection."""
import pcapgen


def capture():
    cap = pcapgen.Capture()
    flow = pcapgen.TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 80)
    flow.open()
    flow.to_server(b"GET /large HTTP/1.1\r\nHost: example.com\r\n\r\n")
    flow.to_client(b"HTTP/1.1 200 OK\r\nContent-Length: 262144\r\n\r\n")
    for i in range(64):
        flow.to_client(b"needle %02d" % i + b"x" * 1015)
        for _ in range(3):
            flow.to_client(b"x" * 1024)
    flow.to_server(b"GET /second HTTP/1.1\r\nHost: example.com\r\n\r\n")
    flow.to_client(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    flow.close()
    return cap
