# SPDX-License-Identifier: GPL-2.0-or-later
"""A handshake with a certificate, one that resumes a session, and one of TLS 1.3."""
import struct

from pcapgen import Capture, TcpFlow

# CN=a.example, which signed itself; 2026 to 2036.
CERTIFICATE = bytes.fromhex(
    "308201bd30820163a00302010202146e34b3e8fa3c2de3a2f1a5befdd3c1c2b4f4248e300a06082a8648ce3d"
    "0403023034310b30090603550406130253453111300f060355040a0c08536f6d65204f726731123010060355"
    "04030c09612e6578616d706c65301e170d3236313132323039343933375a170d333631313139303934393337"
    "5a3034310b30090603550406130253453111300f060355040a0c08536f6d65204f7267311230100603550403"
    "0c09612e6578616d706c653059301306072a8648ce3d020106082a8648ce3d030107034200045749fb92ce2a"
    "525a2ef2ae17f64089e12b58b2908a3046285852fe2fb3ecf0f4869153482b060f96d7b9421fc4db40c04ee0"
    "879d6ddc97663ce07aab1521b9cea3533051301d0603551d0e041604145356388bca973b6144e29ee5d1da39"
    "d23c0fc955301f0603551d230418301680145356388bca973b6144e29ee5d1da39d23c0fc955300f0603551d"
    "130101ff040530030101ff300a06082a8648ce3d0403020348003045022010d8930eb0922a73c6a31164c6ee"
    "3e26ce6392fe9ec8f0122905f6b408c75dd6022100ef65ace719819c833e5afc28752c57276005eb8ab4640d"
    "f771d345e5cc7735cc")
TLS_1_2 = b"\x03\x03"


def vector(size, data):
    return len(data).to_bytes(size, "big") + data


def record(kind, data):
    return bytes([kind]) + TLS_1_2 + vector(2, data)


def message(kind, data):
    return bytes([kind]) + vector(3, data)


def extension(kind, data):
    return struct.pack(">H", kind) + vector(2, data)


def client_hello(name, *extensions):
    sni = extension(0, vector(2, b"\0" + vector(2, name)))
    return record(22, message(1, TLS_1_2 + bytes(32) + vector(1, b"") + vector(2, b"\xc0\x2b")
                              + vector(1, b"\0") + vector(2, sni + b"".join(extensions))))


def server_hello(*extensions):
    return message(2, TLS_1_2 + bytes(32) + vector(1, b"") + b"\xc0\x2b\0"
                   + vector(2, b"".join(extensions)))


FINISHED = record(20, b"\1") + record(22, bytes(range(100, 140)))


def capture():
    cap = Capture()

    full = TcpFlow(cap, "10.0.0.1", 40001, "10.0.0.2", 443)
    full.open()
    full.to_server(client_hello(b"a.example"))
    full.to_client(record(22, server_hello() + message(11, vector(3, vector(3, CERTIFICATE)))
                          + message(14, b"")))
    full.to_server(record(22, message(16, vector(1, bytes(65)))) + FINISHED)
    full.to_client(FINISHED)
    full.close()

    again = TcpFlow(cap, "2001:db8::1", 40002, "2001:db8::2", 443)
    again.open()
    again.to_server(client_hello(b"b.example", extension(35, b"ticket of before")))
    again.to_client(record(22, server_hello()) + FINISHED)
    again.to_server(FINISHED)
    again.close()

    newer = TcpFlow(cap, "10.0.0.1", 40003, "10.0.0.2", 443)
    newer.open()
    newer.to_server(client_hello(b"c.example", extension(43, vector(1, b"\x03\x04"))))
    newer.to_client(record(22, server_hello(extension(43, b"\x03\x04")))
                    + record(20, b"\1") + record(23, bytes(60)))
    newer.to_server(record(20, b"\1") + record(23, bytes(60)))
    newer.close()
    return cap
