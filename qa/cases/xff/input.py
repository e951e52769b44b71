# SPDX-License-Identifier: GPL-2.0-or-later
import pcapgen


def capture():
    cap = pcapgen.Capture()
    flow = pcapgen.TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 80)
    flow.open()
    flow.to_server(b"GET /a HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 192.0.2.1, 192.0.2.2\r\n\r\n")
    flow.to_client(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    flow.close()
    return cap
