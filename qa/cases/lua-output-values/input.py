# SPDX-License-Identifier: GPL-2.0-or-later
"""A key exchange of SSH, a TLS handshake with a chain of two certificates, and two files of HTTP."""
import base64
import struct

from pcapgen import Capture, TcpFlow, http_request, http_response

# Self-signed, P-256, CN=a.
CERTIFICATE = base64.b64decode(
    "MIIBbzCCARWgAwIBAgIUVJKk8ioi3qn4BYYvLgSWAy3wl6owCgYIKoZIzj0EAwIwDDEKMAgGA1UEAwwBYTAgFw0y"
    "NjExMjcwOTQyNThaGA8yMTI2MTEwMzA5NDI1OFowDDEKMAgGA1UEAwwBYTBZMBMGByqGSM49AgEGCCqGSM49AwEH"
    "A0IABFxLZ6UEh6XrFDt/U4zQh55NusEQMkgy4L5zkirI/ABUMP3mT/Py+FXQ+IUI/6G6oQtziejW/3YiNQyDR7NF"
    "goyjUzBRMB0GA1UdDgQWBBTlGg+NZMyl+JGnuNnpIuHVNKbfbzAfBgNVHSMEGDAWgBTlGg+NZMyl+JGnuNnpIuHV"
    "NKbfbzAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0gAMEUCIQDY+pjL/PzNVUZWplpL02BYMOpiEsL+Z3dC"
    "JSiVu8wXNgIgC3QLp5wVLx/Y+r1gnTCDT9NZfxuHo5kLABD8ghvRqQE=")


def ssh_packet(message, body):
    padding = 16 - (6 + len(body)) % 8
    return struct.pack(">IBB", 2 + len(body) + padding, padding, message) + body + bytes(padding)


def key_exchange(algorithms):
    lists = b"".join(struct.pack(">I", len(a)) + a for a in algorithms)
    return ssh_packet(20, bytes(16) + lists + bytes(5))


def ssh(cap):
    lists = [b"kex", b"host", b"aes", b"aes", b"hmac", b"hmac", b"none", b"none", b"", b""]
    flow = TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 22)
    flow.open()
    flow.to_client(b"SSH-2.0-Server\r\n")
    flow.to_server(b"SSH-2.0-Client\r\n")
    for side in (0, 1):
        flow.data(side, key_exchange(lists))
    for side in (0, 1):
        flow.data(side, ssh_packet(21, b""))
    flow.close()


def handshake(kind, body):
    return bytes([kind]) + struct.pack(">I", len(body))[1:] + body


def tls_record(messages):
    return b"\x16\x03\x03" + struct.pack(">H", len(messages)) + messages


def tls(cap):
    hello = b"\x03\x03" + bytes(32) + b"\0"
    certificate = struct.pack(">I", len(CERTIFICATE))[1:] + CERTIFICATE
    chain = struct.pack(">I", 2 * len(certificate))[1:] + 2 * certificate
    flow = TcpFlow(cap, "10.0.0.1", 40001, "10.0.0.2", 443)
    flow.open()
    flow.to_server(tls_record(handshake(1, hello + b"\0\2\xc0\x2b\1\0")))
    flow.to_client(tls_record(handshake(2, hello + b"\xc0\x2b\0") + handshake(11, chain) +
                              handshake(14, b"")))
    flow.close()


def capture():
    cap = Capture()
    ssh(cap)
    tls(cap)
    flow = TcpFlow(cap, "10.0.0.1", 40002, "10.0.0.2", 80)
    flow.open()
    for path in ("/keep", "/leave"):
        flow.to_server(http_request("h", path))
        flow.to_client(http_response(b"body of " + path.encode()))
    flow.close()
    return cap
