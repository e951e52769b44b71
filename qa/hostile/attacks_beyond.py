# SPDX-License-Identifier: GPL-2.0-or-later
"""Attacks on windows of compressed messages, and on what a capture file says about itself."""
import struct
import zlib

from attacks_http import TEXT, UPGRADE, UPGRADED, pages
from attacks_packets import queries
from catalogue import Capture, connect, entry, one_segment, rounds
from pcapgen import dns_query, http_request, http_response


def deflated(data):
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return (packer.compress(data) + packer.flush(zlib.Z_SYNC_FLUSH))[:-4]


def frame(payload, first=0xc1):
    if len(payload) < 126:
        return bytes([first, len(payload)]) + payload
    return bytes([first, 126]) + struct.pack(">H", len(payload)) + payload


def sockets(cap, size, each, count):
    """`each` in both directions of many connections, which stay open."""
    if size is not None:
        for i in rounds(cap, size, 0):
            flow = connect(cap, 80, i)
            flow.to_server(UPGRADE)
            flow.to_client(UPGRADED)
            for j in range(10):
                one_segment(flow, 1, frame(TEXT[(i + j) % 1000:][:1200], 0x81))
            flow.close()
        return
    for i in range(count):
        flow = connect(cap, 80, i)
        flow.to_server(UPGRADE)
        flow.to_client(UPGRADED)
        one_segment(flow, 0, each)
        one_segment(flow, 1, each)


@entry("WebSocket: a packed message in each direction of many connections", "windows that stay open",
       short=True, proto="websocket")
def websocket_windows(cap, size):
    sockets(cap, size, frame(deflated(b"a" * 40000)), 3000)


@entry("WebSocket: small bombs in many connections", "CVE-2024-7254 style; permessage-deflate bombs",
       proto="websocket")
def websocket_small_bombs(cap, size):
    sockets(cap, size, frame(deflated(bytes(100000))) * 4, 1500)


@entry("HTTP: multipart in multipart in multipart", "CVE-2023-24998 style; nesting of MIME", proto="http")
def http_multipart_nested(cap, size):
    if size is not None:
        pages(cap, size, 1000, uploads=True)
        return
    for i in range(6):
        body = b"".join(b"--%d\r\nContent-Type: multipart/mixed; boundary=%d\r\n\r\n" % (j, j + 1)
                        for j in range(1500))
        flow = connect(cap, 80, i)
        flow.to_server(http_request("a", "/up", method="POST", body=body, headers=(
            "Content-Type: multipart/form-data; boundary=0",)))
        flow.to_client(http_response(b"ok"))


# --- pcapng -----------------------------------------------------------------------------------------

def block(kind, body):
    size = 12 + len(body)
    return struct.pack("<II", kind, size) + body + struct.pack("<I", size)


SECTION = block(0x0a0d0d0a, struct.pack("<IHHq", 0x1a2b3c4d, 1, 0, -1))
INTERFACE = block(1, struct.pack("<HHI", 1, 0, 262144))


class PcapNg(Capture):
    """`before` is written before the packets, `options` with each of them."""

    def __init__(self, before=INTERFACE, options=b"", interface=0):
        super().__init__()
        self.before, self.options, self.interface = before, options, interface
        self.bytes = len(before)

    def frame(self, data):
        super().frame(data)
        self.bytes += 16 + len(self.options)

    def write(self, path):
        parts = [SECTION, self.before]
        for when, data in self.frames:
            micro = round(when * 1e6)
            body = struct.pack("<IIIII", self.interface, micro >> 32, micro & 0xffffffff, len(data),
                               len(data)) + data + bytes(-len(data) % 4) + self.options
            parts.append(block(6, body))
        with open(path, "wb") as file:
            file.write(b"".join(parts))


@entry("pcapng: hundreds of interfaces, the last of which has all packets", "walks of lists", short=True)
def pcapng_interfaces(cap, size):
    if size is None:
        cap = PcapNg(INTERFACE * 1000, interface=999)
    queries(cap, 500000 if size is None else size)
    return cap


@entry("pcapng: packets with hundreds of options", "loops over options")
def pcapng_options(cap, size):
    if size is not None:
        queries(cap, size)
        return None
    cap = PcapNg(options=struct.pack("<HH", 1, 0) * 300 + bytes(4))
    for i in range(700):
        cap.udp("10.0.0.1", 5000 + i, "192.168.0.1", 53, dns_query(i, "a.example.com"))
    return cap


@entry("pcapng: sections and blocks of no use between packets", "loops over blocks", short=True)
def pcapng_blocks(cap, size):
    if size is not None:
        queries(cap, size)
        return None
    cap = PcapNg(INTERFACE + (SECTION + INTERFACE) * 5000 + block(0xbad, b"") * 20000)
    queries(cap, 700000)
    return cap
