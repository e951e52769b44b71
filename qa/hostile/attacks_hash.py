# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures that aim at hash tables: keys that met in one bucket, whatever the seed, while hashes
multiplied by what the sender chose.

Each attack is a function of (count, twin) that yields frames. With twin=True it yields as many
frames of the same sizes in which the fields that cancelled each other are drawn at random (always
the same ones). So the twin costs what such traffic has to cost. Background: Crosby and Wallach,
Denial of Service via Algorithmic Complexity Attacks (USENIX Security 2003).

    python3 qa/hostile/attacks_hash.py OUT-FOLDER [COUNT]    writes NAME.pcap and NAME-twin.pcap"""
import os
import random
import struct
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from pcapgen import Capture, TcpFlow, address   # noqa: E402

# Operands that became 0 by exclusive or with a constant of the mixing step.
ZERO_OPERAND = struct.pack("<Q", 0xd1b54a32d192ed03)
SERVER6 = address("2001:db8:1::5")


def v6(source, target, protocol, payload):
    head = struct.pack(">IHBB", 6 << 28, len(payload), protocol, 64) + source + target
    return b"\x02\0\0\0\0\2\x02\0\0\0\0\1\x86\xdd" + head + payload


def udp(sport, dport, payload=b"x"):
    """The checksum is left out of the question: captures of it are read with -k none."""
    return struct.pack(">HHHH", sport, dport, 8 + len(payload), 0xffff) + payload


def flows_v6(count, twin=False):
    """One packet for each of many flows: of the source, the last two bytes and the port cancel
    each other."""
    rng = random.Random(1)
    for i in range(count):
        other = rng.randrange(65536) if twin else i & 0xffff
        source = address("2001:db8::")[:14] + struct.pack("<H", i & 0xffff)
        yield v6(source, SERVER6, 17, udp(other, 4000, b"x" * 20))


def flows_v6_zero(count, twin=False):
    """One packet for each of many flows: the lower half of both addresses is a zero operand, so
    that nothing else of them counts."""
    rng = random.Random(2)
    lower = ZERO_OPERAND[:6]
    for i in range(count):
        end = rng.randbytes(8) if twin else lower + ZERO_OPERAND[6:]
        source = address("2001:db8::")[:5] + struct.pack(">I", i)[1:] + end
        yield v6(source, SERVER6[:8] + ZERO_OPERAND, 17, udp(0, 0, b"x" * 20))


def flows_esp(count, twin=False):
    """One packet for each of many security associations between two hosts."""
    rng = random.Random(3)
    for i in range(count):
        source = address("2001:db8::")[:12] + (rng.randbytes(4) if twin else b"\0\0\0\1")
        yield v6(source, SERVER6, 50, struct.pack(">II", i, 1) + b"x" * 20)


def flows_icmpv6(count, twin=False):
    """Each type and code of ICMPv6 between two hosts is a flow."""
    rng = random.Random(4)
    for i in range(min(count, 65536)):
        source = address("2001:db8::")[:12] + (rng.randbytes(4) if twin else b"\0\0\0\1")
        yield v6(source, SERVER6, 58, struct.pack(">BBHI", i & 0xff, i >> 8, 0, 0) + b"x" * 20)


def fragments_v6(count, twin=False):
    """First fragments whose rest never comes: of the source, the last half and the fragment's id
    cancel each other."""
    rng = random.Random(5)
    for i in range(count):
        ident = struct.pack("<I", rng.getrandbits(32) if twin else i)
        source = address("2001:db8::")[:8] + struct.pack("<I", i) + b"\0\0\0\1"
        fragment = struct.pack(">BBH", 17, 0, 1) + ident[::-1]
        yield v6(source, SERVER6, 44, fragment + b"x" * 64)


def names_with_one_end(count, twin=False):
    """HTTP requests whose user agents end in one constant, for a rule that keeps them in a set:
    alert http any any -> any any (http.user_agent; dataset:set,agents,type string; sid:1;)"""
    rng = random.Random(6)
    end = b"\x03\xed\x92\xd1\x32\x4a\xb5\xd1"
    cap = Capture()
    flow = TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 80)
    flow.open()
    for i in range(count):
        agent = b"%016x" % i + (bytes(rng.randrange(128, 256) for _ in range(8)) if twin else end)
        flow.data(0, b"GET / HTTP/1.1\r\nHost: a\r\nUser-Agent: " + agent + b"\r\n\r\n")
        flow.data(1, b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    yield from (data for _, data in cap.frames)


ATTACKS = (flows_v6, flows_v6_zero, flows_esp, flows_icmpv6, fragments_v6, names_with_one_end)


def write(path, frames):
    cap = Capture()
    for at, data in enumerate(frames):
        cap.frames.append((1700000000 + at * 1e-5, data))
    cap.write(path)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 60000
    for attack in ATTACKS:
        for twin in (False, True):
            name = attack.__name__ + ("-twin" if twin else "") + ".pcap"
            write(os.path.join(sys.argv[1], name), attack(count, twin))


if __name__ == "__main__":
    main()
