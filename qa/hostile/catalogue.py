# SPDX-License-Identifier: GPL-2.0-or-later
"""The catalogue of attacks: what an entry is, and what the modules of entries share.

    @entry("HTTP/2: streams opened and reset", "CVE-2023-44487, rapid reset", short=True)
    def h2_rapid_reset(cap, size):
        flow = ...
        for i in rounds(cap, size, 20000):
            flow.to_server(...)

A function makes one capture. With size None it is the hostile one. Else it is the harmless twin:
traffic of the same protocol, as ordinary senders make it, of `size` bytes. rounds() counts to the
number given for the hostile capture and goes on until `size` is reached for the twin.

Options of an entry: `rules` (text, instead of RULES below), `sets` (a list of KEY=VALUE for --set), `args` (further
arguments of the command line),
`short` (part of the short form), `proto` (a record of the hostile run must name this protocol, so
that an attack which no parser reads does not pass), `reaches` (this counter of the hostile run's
statistics must not be 0, so that an attack which comes to no limit does not pass). Checksums of transport are left 0: captures
are read with -k none."""
import os
import struct
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import pcapgen                                  # noqa: E402
from pcapgen import ACK, PSH, TcpFlow           # noqa: E402

ENTRIES = []

# Rules that match nothing, but need what parsers and decompressors yield.
RULES = """
alert http any any -> any any (file.data; content:"nowhere at all"; sid:1;)
alert http any any -> any any (http.request_body; content:"nowhere at all"; sid:2;)
alert http any any -> any any (http.header; content:"nowhere at all"; sid:3;)
alert http any any -> any any (http.cookie; content:"nowhere at all"; sid:4;)
alert http any any -> any any (http.uri; content:"nowhere at all"; sid:5;)
alert dns any any -> any any (dns.query; content:"nowhere at all"; sid:6;)
alert tls any any -> any any (tls.sni; content:"nowhere at all"; sid:7;)
alert tls any any -> any any (tls.cert_subject; content:"nowhere at all"; sid:8;)
alert smtp any any -> any any (file.data; content:"nowhere at all"; sid:9;)
alert smb any any -> any any (smb.named_pipe; content:"nowhere at all"; sid:10;)
alert mqtt any any -> any any (mqtt.publish.message; content:"nowhere at all"; sid:11;)
alert tcp any any -> any any (content:"nowhere at all"; sid:12;)
alert udp any any -> any any (content:"nowhere at all"; sid:13;)
"""


class Entry:
    def __init__(self, make, what, source, rules=RULES, sets=(), short=False,
                 proto=None, reaches=None, args=()):
        self.name, self.make, self.what, self.source = make.__name__, make, what, source
        self.rules, self.sets, self.short, self.proto = rules, sets, short, proto
        self.reaches, self.args = reaches, args


def entry(what, source, **options):
    def add(make):
        if any(known.name == make.__name__ for known in ENTRIES):
            raise ValueError(f"two entries are called {make.__name__}")
        ENTRIES.append(Entry(make, what, source, **options))
        return make
    return add


class Capture(pcapgen.Capture):
    """Counts its bytes and leaves checksums of transport out."""

    def __init__(self, linktype=1):
        super().__init__(linktype)
        self.bytes, self.step = 0, 0.0001

    def frame(self, data):
        self.frames.append((self.now, data))
        self.now += self.step
        self.bytes += len(data) + 16

    @staticmethod
    def with_checksum(source, target, protocol, segment, at):
        return segment

    def write(self, path):
        parts = [struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 262144, self.linktype)]
        for when, data in self.frames:
            micro = round(when * 1e6)
            parts.append(struct.pack("<IIII", micro // 1000000, micro % 1000000, len(data),
                                     len(data)))
            parts.append(data)
        with open(path, "wb") as file:
            file.write(b"".join(parts))


def moved(frame, copy):
    """The frame between other hosts: 10.X becomes 10.(X + 8 copies), 192.168.X 192.168.(X + copies).
    Both ends change in the same way, so that the two directions of a flow stay one flow."""
    if frame[12:14] != b"\x08\x00" or len(frame) < 34:
        return frame
    frame = bytearray(frame)
    for at in (26, 30):
        if frame[at] == 10:
            frame[at + 1] = frame[at + 1] + 8 * copy & 255
        elif frame[at:at + 2] == b"\xc0\xa8":
            frame[at + 2] = frame[at + 2] + copy & 255
    return bytes(frame)


def repeat(cap, times):
    """The capture so many times, one after another, each between other hosts."""
    if not cap.frames:
        return
    once, span = cap.frames, cap.frames[-1][0] - cap.frames[0][0] + cap.step
    cap.frames = [(when + copy * span, moved(frame, copy) if cap.linktype == 1 else frame)
                  for copy in range(times) for when, frame in once]
    cap.bytes *= times


def rounds(cap, size, count):
    at = 0
    while at < count if size is None else cap.bytes < size:
        yield at
        at += 1


def host(i, net=10):
    return f"{net}.{i >> 16 & 255}.{i >> 8 & 255}.{i & 255}"


def connect(cap, port, i=0):
    """The i-th client's connection to the server at a port."""
    flow = TcpFlow(cap, host(0x10000 + i), 30000 + i % 30000, "192.168.0.1", port)
    flow.open()
    return flow


def one_segment(flow, side, data):
    """Data with an acknowledgement only every 20 segments."""
    for at in range(0, len(data), 1460):
        flow.send(side, PSH | ACK, data[at:at + 1460])
        if at // 1460 % 20 == 19:
            flow.send(1 - side, ACK)


def make(what, size=None):
    cap = Capture()
    return what.make(cap, size) or cap


def ber(tag, *parts):
    body = b"".join(parts)
    n = len(body)
    if n < 128:
        return bytes([tag, n]) + body
    length = n.to_bytes((n.bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(length)]) + length + body


def ber_int(value, tag=2):
    return ber(tag, value.to_bytes(value.bit_length() // 8 + 1, "big"))
