# SPDX-License-Identifier: GPL-2.0-or-later
"""The same body in many content codings, over HTTP/1 and over HTTP/2; each from a port of its own:
41000 and up over HTTP/1, 42000 and up over HTTP/2."""
import gzip
import lzma

from pcapgen import Capture, TcpFlow

TEXT = b"It is the attack that hides in codings. " * 3
HALF = len(TEXT) // 2
# What Python's library cannot make: TEXT by the tools of brotli and zstd.
BR = bytes.fromhex("13770000049c63a92e57e182cf0a1b70c0dc208b4cb0f2e03432e49648d016c84b569ac52c218b46fe5c8c01"
                   "bac7a59efe7401")
BR_OF_GZIP = bytes.fromhex("831e801f8b0800000000000203f32c51c82c5628c94855482c29494cce0632134b14323253528b15"
                           "32f31492f35332f3d28bf5143ca9ac0e0038baf92d7800000003")
ZSTD = bytes.fromhex("28b52ffd045885010084024974206973207468652061747461636b207468617420686964657320696e2063"
                     "6f64696e67732e200100e885aa32146faacb")
ZSTD_SKIPPABLE = bytes.fromhex("502a4d1803000000") + b"abc"
# A window of 128 MiB, one block as it is.
ZSTD_WINDOW = bytes.fromhex("28b52ffd0088") + (len(TEXT) << 3 | 1).to_bytes(3, "little") + TEXT


def members(*parts):
    return b"".join(gzip.compress(part, mtime=0) for part in parts)


BODIES = [
    (b"gzip", members(TEXT)),
    (b"gzip", members(TEXT[:HALF], TEXT[HALF:])),               # the word in the second is cut
    (b"gzip", members(b"nothing here", b"", TEXT)),
    (b"gzip, br", BR_OF_GZIP),
    (b"br", BR),
    (b"zstd", ZSTD),
    (b"zstd", ZSTD_SKIPPABLE + ZSTD),
    (b"zstd, gzip", members(ZSTD)),
    (b"identity, BR", BR),
    (b"zstd", ZSTD_WINDOW),                                     # refused: goes on as it is
    (b"gzip", members(TEXT) + b"\x1f not another member"),
]


def over_http1(cap, port, coding, body):
    flow = TcpFlow(cap, "10.0.0.1", port, "10.0.0.2", 80)
    flow.open()
    flow.to_server(b"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n")
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: %s\r\nContent-Length: %d\r\n\r\n"
    data = head % (coding, len(body)) + body
    for at in range(0, len(data), 7):
        flow.to_client(data[at:at + 7])
    flow.close()


def frame(kind, flags, stream, payload):
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def header(name, value):
    return b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value


def over_http2(cap, port, coding, body):
    flow = TcpFlow(cap, "10.0.0.1", port, "10.0.0.2", 80)
    flow.open()
    request = header(b":method", b"GET") + header(b":path", b"/") + header(b":authority", b"a")
    flow.to_server(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, b"") +
                   frame(1, 5, 1, request))
    flow.to_client(frame(4, 0, 0, b"") + frame(1, 4, 1, header(b":status", b"200") +
                                               header(b"content-encoding", coding)))
    for at in range(0, len(body), 7):
        flow.to_client(frame(0, 1 if at + 7 >= len(body) else 0, 1, body[at:at + 7]))
    flow.close()


def capture():
    cap = Capture()
    for i, (coding, body) in enumerate(BODIES):
        over_http1(cap, 41000 + i, coding, body)
        over_http2(cap, 42000 + i, coding, body)
    alone = lzma.compress(TEXT, format=lzma.FORMAT_ALONE)
    over_http1(cap, 43000, b"lzma", alone)
    over_http1(cap, 43001, b"lzma, identity", alone)
    return cap
