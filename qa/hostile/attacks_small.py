# SPDX-License-Identifier: GPL-2.0-or-later
"""Attacks that buy a little in each of thousands of connections, which stay open."""
import lzma
import struct
import zlib

from attacks_http import GET, TEXT, gzip_of, pages, zstd_bomb
from catalogue import connect, entry, one_segment

SOURCE = "zip bombs; a small one in each of many connections"


def open_bombs(cap, size, coding, body, count, upload=False):
    """The length that is announced never comes, so that each body stays open."""
    if size is not None:
        pages(cap, size, 1000, "gzip", upload)
        return
    for i in range(count):
        flow = connect(cap, 80, i)
        head = f"Content-Encoding: {coding}\r\nContent-Length: 90000\r\n\r\n".encode()
        if upload:
            one_segment(flow, 0, b"POST /up HTTP/1.1\r\nHost: a\r\n" + head + body)
            flow.send(1, 16)
        else:
            flow.to_server(GET)
            one_segment(flow, 1, b"HTTP/1.1 200 OK\r\n" + head + body)
            flow.send(0, 16)


SMALL = gzip_of(bytes(128 << 10))
FULL = gzip_of(bytes(1 << 20))


def small_entry(name, what, coding, body, count, **options):
    def make(cap, size):
        open_bombs(cap, size, coding, body, count, options.get("upload", False))
    make.__name__ = "small_" + name
    entry(what, SOURCE, **{k: v for k, v in options.items() if k != "upload"}, proto="http")(make)


small_entry("gzip", "HTTP: small gzip bombs in many connections that stay open", "gzip", SMALL,
            4000, short=True)
small_entry("gzip_full", "HTTP: gzip bombs up to the body limit in many connections", "gzip", FULL,
            2000)
small_entry("gzip_upload", "HTTP: uploads of small gzip bombs in many connections", "gzip", SMALL,
            4000, upload=True, short=True)
small_entry("gzip_upload_full", "HTTP: uploads of gzip bombs up to the body limit", "gzip", FULL,
            2000, upload=True)
small_entry("deflate", "HTTP: small deflate bombs in many connections", "deflate",
            zlib.compress(bytes(128 << 10), 9), 4000)
small_entry("zstd", "HTTP: small zstd bombs in many connections", "zstd", zstd_bomb(1), 4000,
            short=True)
small_entry("brotli", "HTTP: small brotli bombs in many connections", "br",
            bytes.fromhex("5bffff8f7f02201e0b0472ef1f00"), 4000)


# A frame with a window of 128 KiB, and a block that fills it. The frame never ends.
ZSTD_OPEN = b"\x28\xb5\x2f\xfd\x00\x38" + struct.pack("<I", 128 * 1024 << 3 | 1 << 1)[:3] + b"A"
MIXED = (("gzip", SMALL), ("zstd", ZSTD_OPEN), ("gzip", gzip_of(TEXT[:100])[:60]),
         ("zstd", ZSTD_OPEN + ZSTD_OPEN[-4:] * 7))


@entry("HTTP: bombs and open windows of several codings, all shares of the memory together", SOURCE,
       proto="http", short=True)
def small_mixed(cap, size):
    if size is not None:
        pages(cap, size, 1000, "gzip")
        return
    for i in range(8000):
        flow = connect(cap, 80, i)
        coding, body = MIXED[i % 4]
        flow.to_server(GET)
        one_segment(flow, 1, f"HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\n"
                    "Content-Length: 90000\r\n\r\n".encode() + body)
        flow.send(0, 16)


# --- what keeps parsers and decoders from being put aside -----------------------------------------

def answers(cap, size, requests, parts, count):
    """Connections that stay open: requests in one segment, then the server's parts, each
    acknowledged."""
    if size is not None:
        pages(cap, size, 1000, "gzip")
        return
    for i in range(count):
        flow = connect(cap, 80, i)
        one_segment(flow, 0, requests)
        for part in parts:
            one_segment(flow, 1, part)
            flow.send(0, 16)


def coded(coding, framing):
    return f"HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\n{framing}\r\n\r\n".encode()


CHUNKED, LONG = "Transfer-Encoding: chunked", "Content-Length: 90000"
LZMA = lzma.compress(bytes(128 << 10), format=lzma.FORMAT_ALONE)
OPEN_TEXT = gzip_of(b"".join(b"%x " % (i * i) for i in range(2000)))[:1000]


@entry("HTTP: a bomb in chunks, of which the last ends in its length", SOURCE, proto="http")
def small_chunks(cap, size):
    answers(cap, size, GET, [coded("gzip", CHUNKED) + b"%x\r\n%s\r\n5" % (len(SMALL), SMALL)], 3000)


@entry("HTTP: open bodies that go on byte by byte, in chunks of one byte", SOURCE, proto="http",
       short=True)
def small_drips(cap, size):
    answers(cap, size, GET, [coded("gzip", CHUNKED)] +
            [b"1\r\n%c\r\n" % byte for byte in SMALL[:12]], 1500)


@entry("HTTP: bombs packed twice, and headers that end in the middle", SOURCE, proto="http")
def small_twice(cap, size):
    answers(cap, size, GET, [b"HTTP/1.1 100 Continue\r\n\r\n" + coded("gzip, gzip", LONG)[:-2],
                             b"\r\n" + gzip_of(SMALL)], 3000)


@entry("HTTP: small bombs in lzma", SOURCE, proto="http")
def small_lzma(cap, size):
    answers(cap, size, GET, [coded("lzma", LONG) + LZMA], 3000)


@entry("HTTP: open windows of text, which do not repeat themselves", SOURCE, proto="http")
def small_text(cap, size):
    answers(cap, size, GET, [coded("gzip", "Connection: close") + OPEN_TEXT], 3000)


@entry("HTTP: requests in a row, of which the first has an open answer", SOURCE, proto="http")
def small_rows(cap, size):
    answers(cap, size, GET * 3, [coded("gzip", LONG) + SMALL], 3000)


@entry("HTTP: bombs in uploads and in their answers at the same time", SOURCE, proto="http",
       short=True)
def small_both(cap, size):
    upload = b"POST /up HTTP/1.1\r\nHost: a\r\n" + coded("gzip", LONG)[17:] + SMALL
    answers(cap, size, upload, [coded("gzip", LONG) + SMALL], 3000)
