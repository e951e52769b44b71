# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads and writes captures, and takes TCP segments apart: for tools that change captures.

    capture = read(path)        # .linktype, .packets: [(seconds, nanoseconds, bytes)]; None: not one
    write(path, capture)
    segment = tcp_of(capture.linktype, data)        # None: no whole TCP segment
    data = segment.packet(seq, payload, flags)      # the same one with other contents

Checksums of TCP are not kept right: run what reads the result with `-k none`."""
import os
import struct

FIN, SYN, RST, PSH, ACK, URG = 1, 2, 4, 8, 16, 32


class Capture:
    def __init__(self, linktype, packets):
        self.linktype, self.packets = linktype, packets


def _classic(data):
    magic = data[:4]
    order = "<" if magic in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    scale = 1 if b"\x3c" in magic else 1000
    linktype = struct.unpack_from(order + "I", data, 20)[0] & 0x0fffffff
    at, packets = 24, []
    while at + 16 <= len(data):
        sec, part, n = struct.unpack_from(order + "III", data, at)
        if at + 16 + n > len(data):
            break
        packets.append((sec, part * scale, data[at + 16:at + 16 + n]))
        at += 16 + n
    return Capture(linktype, packets)


def _options(data, order, at, end):
    while at + 4 <= end:
        code, n = struct.unpack_from(order + "HH", data, at)
        if code == 0:
            return
        yield code, data[at + 4:at + 4 + n]
        at += 4 + (n + 3) // 4 * 4


def _resolution(data, order, at, end):
    for code, value in _options(data, order, at, end):
        if code == 9 and value:
            return 2 ** (value[0] & 0x7f) if value[0] & 0x80 else 10 ** value[0]
    return 10 ** 6


def _next_generation(data):
    order = "<" if data[8:12] == b"\x4d\x3c\x2b\x1a" else ">"
    at, packets, interfaces = 0, [], []
    while at + 12 <= len(data):
        kind, size = struct.unpack_from(order + "II", data, at)
        if size < 12 or at + size > len(data):
            break
        end = at + size - 4
        if kind == 1:
            interfaces.append((struct.unpack_from(order + "H", data, at + 8)[0],
                               _resolution(data, order, at + 16, end)))
        elif kind == 6 and interfaces:
            which, high, low, n = struct.unpack_from(order + "IIII", data, at + 8)
            linktype, unit = interfaces[min(which, len(interfaces) - 1)]
            ticks = high << 32 | low
            packets.append((ticks // unit, ticks % unit * 10 ** 9 // unit,
                            data[at + 28:at + 28 + n]))
        at += size
    return Capture(interfaces[0][0], packets) if interfaces else None


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    if data[:4] == b"\x0a\x0d\x0d\x0a":
        return _next_generation(data)
    if data[:4] in (b"\xd4\xc3\xb2\xa1", b"\xa1\xb2\xc3\xd4", b"\x4d\x3c\xb2\xa1",
                    b"\xa1\xb2\x3c\x4d") and len(data) >= 24:
        return _classic(data)
    return None


def write(path, capture):
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 262144, capture.linktype))
        for sec, nsec, data in capture.packets:
            file.write(struct.pack("<IIII", sec & 0xffffffff, nsec, len(data), len(data)) + data)


def paths(roots, most=0):
    """Captures below the directories, sorted; at most so many of each, evenly over all there are."""
    for root in roots:
        if not os.path.isdir(root):
            yield root
            continue
        found = sorted(os.path.join(directory, name) for directory, _, names in os.walk(root)
                       for name in names if name.endswith((".pcap", ".pcapng", ".cap"))
                       and os.path.getsize(os.path.join(directory, name)) < 8_000_000)
        step = max(1, len(found) // most) if most else 1
        yield from found[::step][:most or None]


class Segment:
    """A TCP segment within its packet. Offsets of: ip the network header, tcp, payload."""

    def __init__(self, data, ip, tcp, payload, end):
        self.data, self.ip, self.tcp, self.end = data, ip, tcp, end
        self.seq, self.ack = struct.unpack_from(">II", data, tcp + 4)
        self.flags = data[tcp + 13]
        self.head, self.payload = payload, data[payload:end]
        addresses = slice(ip + 12, ip + 20) if data[ip] >> 4 == 4 else slice(ip + 8, ip + 40)
        ends, half = data[addresses], (addresses.stop - addresses.start) // 2
        self.side = ends + data[tcp:tcp + 4]                # who sends it to whom
        self.other = ends[half:] + ends[:half] + data[tcp + 2:tcp + 4] + data[tcp:tcp + 2]

    def packet(self, seq, payload, flags):
        out = bytearray(self.data[:self.head]) + payload
        struct.pack_into(">I", out, self.tcp + 4, seq & 0xffffffff)
        out[self.tcp + 13] = flags
        if out[self.ip] >> 4 == 4:
            struct.pack_into(">H", out, self.ip + 2, len(out) - self.ip)
            struct.pack_into(">H", out, self.ip + 10, 0)
            words = struct.unpack_from(f">{(out[self.ip] & 15) * 2}H", out, self.ip)
            total = sum(words)
            total = (total & 0xffff) + (total >> 16)
            struct.pack_into(">H", out, self.ip + 10, ~((total & 0xffff) + (total >> 16)) & 0xffff)
        else:
            struct.pack_into(">H", out, self.ip + 4, len(out) - self.ip - 40)
        return bytes(out)


def _network(linktype, data):
    """Where IP begins; None: elsewhere."""
    if linktype in (101, 12, 14, 228, 229):
        return 0
    if linktype in (0, 108):
        return 4
    at = {1: 12, 113: 14}.get(linktype)
    while at is not None and at + 2 <= len(data):
        kind = struct.unpack_from(">H", data, at)[0]
        if kind in (0x800, 0x86dd):
            return at + 2
        if kind not in (0x8100, 0x88a8):
            return None
        at += 4
    return None


def tcp_of(linktype, data):
    ip = _network(linktype, data)
    if ip is None or len(data) < ip + 40:
        return None
    if data[ip] >> 4 == 4:
        tcp = ip + (data[ip] & 15) * 4
        end = ip + struct.unpack_from(">H", data, ip + 2)[0]
        fragment = struct.unpack_from(">H", data, ip + 6)[0] & 0x3fff
        if data[ip + 9] != 6 or fragment or tcp < ip + 20:
            return None
    elif data[ip] >> 4 == 6 and data[ip + 6] == 6:
        tcp, end = ip + 40, ip + 40 + struct.unpack_from(">H", data, ip + 4)[0]
    else:
        return None
    if end > len(data) or tcp + 20 > end:
        return None
    payload = tcp + (data[tcp + 12] >> 4) * 4
    if payload < tcp + 20 or payload > end:
        return None
    return Segment(data, ip, tcp, payload, end)
