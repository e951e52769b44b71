# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes small captures: enough of Ethernet, IP, TCP, UDP and DNS to make a test case readable.

    from pcapgen import Capture, TcpFlow
    cap = Capture()
    flow = TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 80)
    flow.open()
    flow.to_server(b"GET / HTTP/1.1\\r\\n\\r\\n")
    flow.close()
    cap.write("out.pcap")

Packet times are set by the capture, 1 ms apart; cap.wait(seconds) lets time pass. Checksums are
right unless a case breaks them. cap.frame() takes any bytes."""
import ipaddress
import struct

START = 1700000000.0
MAC_A, MAC_B = bytes.fromhex("020000000001"), bytes.fromhex("020000000002")
FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16


def checksum(data):
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def address(text):
    return ipaddress.ip_address(text).packed


class Capture:
    def __init__(self, linktype=1):
        self.linktype, self.frames, self.now, self.ident = linktype, [], START, 0

    def wait(self, seconds):
        self.now += seconds

    def frame(self, data):
        self.frames.append((self.now, data))
        self.now = round(self.now + 0.001, 6)

    def ip(self, source, target, protocol, payload, ttl=64, fragment=0, more=False, ident=None):
        """An IPv4 or IPv6 packet, as the addresses say. fragment: offset in bytes (IPv4)."""
        a, b = address(source), address(target)
        if len(a) == 16:
            head = struct.pack(">IHBB", 6 << 28, len(payload), protocol, ttl) + a + b
            self.frame(MAC_B + MAC_A + b"\x86\xdd" + head + payload)
            return
        if ident is None:
            self.ident = ident = (self.ident + 1) & 0xffff
        flags = (0x2000 if more else 0) | fragment // 8
        head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(payload), ident, flags, ttl, protocol,
                           0) + a + b
        head = head[:10] + struct.pack(">H", checksum(head)) + head[12:]
        self.frame(MAC_B + MAC_A + b"\x08\x00" + head + payload)

    @staticmethod
    def with_checksum(source, target, protocol, segment, at):
        a, b = address(source), address(target)
        pseudo = a + b + struct.pack(">II" if len(a) == 16 else ">xBH",
                                     *((len(segment), protocol) if len(a) == 16 else
                                       (protocol, len(segment))))
        value = checksum(pseudo + segment)
        return segment[:at] + struct.pack(">H", value) + segment[at + 2:]

    def tcp(self, source, sport, target, dport, seq, ack, flags, payload=b"", window=65535,
            options=b"", ttl=64):
        options += b"\0" * (-len(options) % 4)
        head = struct.pack(">HHIIBBHHH", sport, dport, seq & 0xffffffff, ack & 0xffffffff,
                           (20 + len(options)) // 4 << 4, flags, window, 0, 0) + options
        segment = self.with_checksum(source, target, 6, head + payload, 16)
        self.ip(source, target, 6, segment, ttl)

    def udp(self, source, sport, target, dport, payload):
        head = struct.pack(">HHHH", sport, dport, 8 + len(payload), 0)
        self.ip(source, target, 17, self.with_checksum(source, target, 17, head + payload, 6))

    def ping(self, source, target, reply=False, payload=b"abcdefgh"):
        message = struct.pack(">BBHHH", 0 if reply else 8, 0, 0, 1, 1) + payload
        message = message[:2] + struct.pack(">H", checksum(message)) + message[4:]
        self.ip(source, target, 1, message)

    def write(self, path):
        with open(path, "wb") as f:
            f.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 262144, self.linktype))
            for when, data in self.frames:
                f.write(struct.pack("<IIII", int(when), round(when % 1 * 1e6), len(data),
                                    len(data)))
                f.write(data)


class TcpFlow:
    """A well-behaved connection; data in segments of `mss`, each acknowledged."""

    def __init__(self, cap, client, cport, server, sport, mss=1460, seq=1000, ack=5000):
        self.cap, self.mss = cap, mss
        self.ends = ((client, cport), (server, sport))
        self.seq = [seq, ack]

    def send(self, side, flags, payload=b"", options=b""):
        (src, sport), (dst, dport) = self.ends[side], self.ends[1 - side]
        ack = self.seq[1 - side] if flags & ACK else 0
        self.cap.tcp(src, sport, dst, dport, self.seq[side], ack, flags, payload, options=options)
        self.seq[side] += len(payload) + bool(flags & (SYN | FIN))

    def open(self):
        mss = struct.pack(">BBH", 2, 4, 1460)
        self.send(0, SYN, options=mss)
        self.send(1, SYN | ACK, options=mss)
        self.send(0, ACK)

    def data(self, side, payload):
        for at in range(0, len(payload), self.mss):
            self.send(side, PSH | ACK, payload[at:at + self.mss])
            self.send(1 - side, ACK)

    def to_server(self, payload):
        self.data(0, payload)

    def to_client(self, payload):
        self.data(1, payload)

    def close(self, side=0):
        self.send(side, FIN | ACK)
        self.send(1 - side, FIN | ACK)
        self.send(side, ACK)

    def reset(self, side=1):
        self.send(side, RST | ACK)


def dns_name(name):
    return b"".join(bytes([len(p)]) + p.encode() for p in name.split(".") if p) + b"\0"


def dns_query(ident, name, kind=1):
    return struct.pack(">HHHHHH", ident, 0x0100, 1, 0, 0, 0) + dns_name(name) + \
        struct.pack(">HH", kind, 1)


def dns_answer(ident, name, addresses=(), code=0):
    """A records, or with code 3 and no addresses NXDOMAIN."""
    out = struct.pack(">HHHHHH", ident, 0x8180 | code, 1, len(addresses), 0, 0)
    out += dns_name(name) + struct.pack(">HH", 1, 1)
    for text in addresses:
        out += b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, 300, 4) + address(text)
    return out


def http_request(host, path, agent="Mozilla/5.0", method="GET", body=b"", headers=()):
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host}", f"User-Agent: {agent}", *headers]
    if body:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def http_response(body, status="200 OK", kind="text/html", headers=()):
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {len(body)}",
             *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body
