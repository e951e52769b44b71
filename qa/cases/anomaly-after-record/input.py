# SPDX-License-Identifier: GPL-2.0-or-later
from base64 import b64decode

from pcapgen import Capture, TcpFlow

CERTIFICATE = b64decode("""
MIIBdzCCAR2gAwIBAgIUZ5r8vX43gjHpAFPAWQtYH/BaRWQwCgYIKoZIzj0EAwIwETEPMA0GA1UEAwwGYS50ZXN0MB4X
DTI2MTEyMzIzMzgxNVoXDTM2MTEyMDIzMzgxNVowETEPMA0GA1UEAwwGYS50ZXN0MFkwEwYHKoZIzj0CAQYIKoZIzj0D
AQcDQgAE9H/BBK9PH2RY5a9PCpJ6GFINmAHRW3LyEAR0ALPNHE4RSIUpX3XnbZ6ctvdRWHwQQPwIMzyqleARWhx0N8oy
naNTMFEwHQYDVR0OBBYEFGZ75EdZWbRpKfqfsx1P8WCe3t63MB8GA1UdIwQYMBaAFGZ75EdZWbRpKfqfsx1P8WCe3t63
MA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSAAwRQIgEHuutPI2GvWjsU/3U6d/XWhjaTDnWHqHyU7oiDwUNy8C
IQDcY5dQpzHgUeWV5ZA2uYNZAJYpCxhM5f0FbXtMi855rA==""")


def record(kind, content):
    return bytes([kind]) + b"\x03\x03" + len(content).to_bytes(2, "big") + content


def sized(data):
    return len(data).to_bytes(3, "big") + data


def message(kind, body):
    return record(22, bytes([kind]) + sized(body))


HELLO = b"\x03\x03" + b"R" * 32 + b"\0"
FINISHED = record(20, b"\x01") + record(22, b"F" * 40)
HEARTBEAT = record(24, b"\x01\0\x10" + b"H" * 32)


def capture():
    """One side asks for two heartbeats, where only one may be in flight (RFC 6520 section 4)."""
    cap = Capture()
    flow = TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 443)
    flow.open()
    flow.to_server(message(1, HELLO + b"\0\x02\0\x2f" + b"\x01\0" + b"\0\0"))
    flow.to_client(message(2, HELLO + b"\0\x2f" + b"\0" + b"\0\0") +
                   message(11, sized(sized(CERTIFICATE))) + message(14, b""))
    flow.to_server(message(16, b"K" * 34) + FINISHED)
    flow.to_client(FINISHED)
    flow.to_server(HEARTBEAT)
    flow.to_server(HEARTBEAT)
    flow.close()
    return cap
