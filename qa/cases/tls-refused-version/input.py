# SPDX-License-Identifier: GPL-2.0-or-later
from pcapgen import Capture, TcpFlow


def client_hello():
    body = b"\x03\x03" + b"R" * 32 + b"\0" + b"\0\x02\0\x2f" + b"\x01\0" + b"\0\0"
    message = b"\x01" + len(body).to_bytes(3, "big") + body
    return b"\x16\x03\x01" + len(message).to_bytes(2, "big") + message


def capture():
    cap = Capture()
    flow = TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 443)
    flow.open()
    flow.to_server(client_hello())
    flow.to_client(b"<!DOCTYPE html><html>")
    flow.close()
    return cap
