# SPDX-License-Identifier: GPL-2.0-or-later
"""Attacks on binary protocols: SMB, DCE/RPC, NFS, MQTT, PostgreSQL, ENIP, DNP3, Modbus."""
import random
import struct

from attacks_mail import dialogue
from catalogue import connect, entry, host, rounds

PROTOCOLS = "app-layer.protocols."


def smb2(command, message, body, flags=0, tree=1, session=1):
    head = struct.pack("<4sHHIHHIIQIIQ16s", b"\xfeSMB", 64, 0, 0, command, 1, flags, 0, message,
                       0, tree, session, b"")
    return struct.pack(">I", len(head) + len(body)) + head + body


def create(message, name, flags=0):
    name = name.encode("utf-16-le")
    if flags:
        return smb2(5, message, struct.pack("<HBBI", 89, 0, 0, 1) + b"\0" * 56 + struct.pack(
            "<QQ", message, message) + b"\0" * 8, flags)
    return smb2(5, message, struct.pack("<HBBI", 57, 0, 0, 2) + b"\0" * 16 + struct.pack(
        "<IIIIIHHII", 1, 0, 7, 1, 0, 120, len(name), 0, 0) + name)


def read2(message, at, flags=0, data=b""):
    if flags:
        return smb2(8, message, struct.pack("<HBBIII", 17, 80, 0, len(data), 0, 0) + data, flags)
    return smb2(8, message, struct.pack("<HBBIQQQIIIHH", 49, 0, 0, 65536, at, 1, 1, 0, 0, 0, 0, 0)
                + b"\0")


def write2(message, at, data, ident=1):
    return smb2(9, message, struct.pack("<HHIQQQIIHHI", 49, 112, len(data), at, ident, ident, 0,
                                        0, 0, 0, 0) + data)


NEGOTIATE = smb2(0, 0, struct.pack("<HHHHI", 36, 2, 1, 0, 0) + b"\0" * 24 + b"\x02\x02\x10\x02")
NEGOTIATED = smb2(0, 0, struct.pack("<HHHHH", 65, 1, 0x210, 0, 0)[:8] + b"\0" * 56 + b"\0", 1)
SMB_START = [(0, NEGOTIATE), (1, NEGOTIATED)]
SMB_ORDINARY = [part for i in range(10) for part in ((0, create(i + 1, f"file{i}.txt")),
                                                     (1, create(i + 1, "", 1)))]


def smb_entry(what, source, **options):
    def add(make):
        def both(cap, size):
            dialogue(cap, size, 445, SMB_START, make() if size is None else [], SMB_ORDINARY)
        both.__name__ = make.__name__
        entry("SMB: " + what, source, proto="smb", **options)(both)
        return make
    return add


@smb_entry("files asked for without an answer", "requests that stay open", short=True)
def smb_open_creates():
    return [(0, b"".join(create(i, f"f{i}") for i in range(1, 6000)))]


@smb_entry("reads without an answer", "requests that stay open", short=True)
def smb_open_reads():
    return [(0, b"".join(read2(i, i * 65536) for i in range(1, 6500)))]


@smb_entry("responses beside a thousand open requests", "a lookup for each response", short=True)
def smb_unmatched():
    opened = b"".join(create(i, f"f{i}") for i in range(1, 1000))
    other = struct.pack("<HHI", 9, 0, 0) + b"\0"
    return [(0, opened), (1, b"".join(smb2(11, i, other, 1) for i in range(100000, 125000)))]


@smb_entry("files opened and never closed", "names kept by id")
def smb_open_files():
    return [part for i in range(1, 2500) for part in ((0, create(i, f"f{i}")),
                                                      (1, create(i, "", 1)))]


@smb_entry("a file written in any order", "pieces that wait for a hole", short=True)
def smb_write_order():
    rng = random.Random(4)
    return [(0, create(1, "file")), (1, create(1, "", 1))] + [
        (0, write2(i, 10 + 3 * rng.randrange(100000), b"ab")) for i in range(2, 4500)]


@smb_entry("pieces of many files by turns", "files that stay open")
def smb_write_files():
    return [(0, write2(i, i // 1000 * 100, b"a" * 100, 1 + i % 1000)) for i in range(2, 4000)]


@smb_entry("messages chained in one record", "compounded requests", short=True)
def smb_chain():
    head = create(1, "f")[4:]
    head += b"\0" * (-len(head) % 8)
    chained = head[:20] + struct.pack("<I", len(head)) + head[24:]
    body = chained * 450 + head
    return [(0, struct.pack(">I", len(body)) + body)] * 10


@smb_entry("records of SMB1 without an answer", "requests that stay open")
def smb1_requests():
    head = b"\xffSMB\x2e" + b"\0" * 19 + b"\1\0\1\0\1\0%s"
    return [(0, b"".join(b"\0\0\0\x3b" + head % struct.pack("<H", i & 0xffff) + b"\x0c" +
                         b"\xff\0\0\0" + b"\1\0" * 10 + b"\0\0" for i in range(11000)))]


@smb_entry("a record of 16 MB that never ends", "lengths that promise much")
def smb_promise():
    return [(0, b"\0\xff\xff\xff" + create(1, "f")[4:] + b"a" * 800000)]


def rpc(kind, call, body, flags=3):
    return struct.pack("<BBBBIHHI", 5, 0, kind, flags, 0x10, 16 + len(body), 0, call) + body


UUID = bytes(range(16))
CONTEXT = struct.pack("<HBB", 0, 1, 0) + UUID + b"\1\0\0\0" + UUID + b"\2\0\0\0"
BIND = rpc(11, 1, struct.pack("<HHIB3x", 4280, 4280, 0, 1) + CONTEXT)
ACCEPTED = rpc(12, 1, struct.pack("<HHIH", 4280, 4280, 0, 4) + b"135\0\0\0" + b"\1\0\0\0" +
               struct.pack("<HH", 0, 0) + UUID + b"\2\0\0\0")


def call(number, body=b"stub", flags=3):
    return rpc(0, number, struct.pack("<IHH", len(body), 0, 5) + body, flags)


def reply(number, body=b"stub"):
    return rpc(2, number, struct.pack("<IHBB", len(body), 0, 0, 0) + body)


RPC_ORDINARY = [part for i in range(10) for part in ((0, call(i + 2)), (1, reply(i + 2)))]


@entry("DCE/RPC: calls without an answer", "requests that stay open", short=True, proto="dcerpc")
def dcerpc_calls(cap, size):
    dialogue(cap, size, 135, [(0, BIND), (1, ACCEPTED)],
             [(0, b"".join(call(i) for i in range(2, 26000)))], RPC_ORDINARY)


@entry("DCE/RPC: calls answered in the other order", "requests that are looked up", short=True,
       proto="dcerpc")
def dcerpc_backwards(cap, size):
    dialogue(cap, size, 135, [(0, BIND), (1, ACCEPTED)], [
        (0, b"".join(call(i) for i in range(2, 13000))),
        (1, b"".join(reply(i) for i in range(12999, 1, -1)))], RPC_ORDINARY)


@entry("DCE/RPC: fragments without a last one", "CVE-2010-2063 style; fragments", short=True,
       proto="dcerpc")
def dcerpc_fragments(cap, size):
    dialogue(cap, size, 135, [(0, BIND), (1, ACCEPTED)],
             [(0, call(2, b"a", 1) + call(2, b"a", 0) * 30000)], RPC_ORDINARY)


@entry("DCE/RPC: contexts without end", "loops over contexts", proto="dcerpc")
def dcerpc_contexts(cap, size):
    many = struct.pack("<HHIB3x", 4280, 4280, 0, 255) + CONTEXT * 255
    dialogue(cap, size, 135, [(0, BIND), (1, ACCEPTED)], [(0, rpc(14, i, many))
                                                          for i in range(70)], RPC_ORDINARY)


def sunrpc(xid, procedure, body=b"", program=100003):
    message = struct.pack(">IIIIIIIIII", xid, 0, 2, program, 3, procedure, 0, 0, 0, 0) + body
    return struct.pack(">I", 0x80000000 | len(message)) + message


def sunrpc_reply(xid, body=b"\0\0\0\2"):
    message = struct.pack(">IIIIII", xid, 1, 0, 0, 0, 0) + body
    return struct.pack(">I", 0x80000000 | len(message)) + message


def handle(i):
    return struct.pack(">III", 8, i, 7)


def lookup(i):
    return sunrpc(i, 3, handle(i) + b"\0\0\0\4name")


NFS_ORDINARY = [part for i in range(10) for part in ((0, lookup(i + 1)), (1, sunrpc_reply(i + 1)))]


@entry("NFS: calls without an answer", "requests that stay open", short=True, proto="nfs")
def nfs_calls(cap, size):
    dialogue(cap, size, 2049, [], [(0, b"".join(lookup(i) for i in range(13000)))], NFS_ORDINARY)


@entry("NFS: calls answered in the other order", "requests that are looked up", short=True,
       proto="nfs")
def nfs_backwards(cap, size):
    dialogue(cap, size, 2049, [], [(0, b"".join(lookup(i) for i in range(7000))), (1, b"".join(
        sunrpc_reply(i) for i in range(6999, -1, -1)))], NFS_ORDINARY)


@entry("NFS: a file written in any order", "pieces that wait for a hole", short=True, proto="nfs")
def nfs_write_order(cap, size):
    rng = random.Random(5)
    dialogue(cap, size, 2049, [], [(0, b"".join(
        sunrpc(i, 7, handle(1) + struct.pack(">QIII", 8 + 4 * rng.randrange(100000), 4, 0, 4) +
               b"abcd") for i in range(7500)))], NFS_ORDINARY)


@entry("NFS: record marks of no bytes", "fragments of RPC over TCP", proto="nfs")
def nfs_fragments(cap, size):
    dialogue(cap, size, 2049, [], [(0, lookup(1) + b"\0\0\0\0" * 190000)], NFS_ORDINARY)


@entry("NFS: calls over UDP without an answer", "requests that stay open", proto="nfs")
def nfs_udp(cap, size):
    for i in rounds(cap, size, 7000):
        cap.udp("10.0.0.1" if size is None else host(i % 200), 700, "192.168.0.1", 2049,
                lookup(i)[4:])


def mqtt(kind, body, flags=0):
    n, length = len(body), b""
    while True:
        length += bytes([n & 127 | (128 if n > 127 else 0)])
        n >>= 7
        if not n:
            return bytes([kind << 4 | flags]) + length + body


def mstr(text):
    return struct.pack(">H", len(text)) + text


MQTT_START = [(0, mqtt(1, mstr(b"MQTT") + b"\4\2\0\x3c" + mstr(b"me"))), (1, mqtt(2, b"\0\0"))]


def publish(i, qos=1):
    return mqtt(3, mstr(b"a/b") + struct.pack(">H", i & 0xffff) + b"hi", qos << 1)


MQTT_ORDINARY = [part for i in range(1, 10) for part in (
    (0, publish(i)), (1, mqtt(4, struct.pack(">H", i))))]


@entry("MQTT: messages that are never acknowledged", "CVE-2024-3935 style; open messages",
       short=True, proto="mqtt")
def mqtt_publish(cap, size):
    dialogue(cap, size, 1883, MQTT_START, [(0, b"".join(publish(i) for i in range(1, 65000)))],
             MQTT_ORDINARY)


def pings_in(cap, size, connections, pings):
    if size is not None:
        dialogue(cap, size, 1883, MQTT_START, [], MQTT_ORDINARY)
        return
    for i in range(connections):
        flow = connect(cap, 1883, i)
        for side, data in MQTT_START:
            flow.data(side, data)
        flow.data(0, mqtt(12, b"") * pings)


@entry("MQTT: pings that are never answered, in many connections",
       "CVE-2024-3935 style; messages that wait for the other side", short=True, proto="mqtt")
def mqtt_pings_everywhere(cap, size):
    pings_in(cap, size, 3000, 400)


@entry("MQTT: messages acknowledged in the other order", "requests that are looked up",
       proto="mqtt", short=True)
def mqtt_backwards(cap, size):
    dialogue(cap, size, 1883, MQTT_START, [
        (0, b"".join(publish(i) for i in range(1, 40000))),
        (1, b"".join(mqtt(4, struct.pack(">H", i)) for i in range(39999, 0, -1)))], MQTT_ORDINARY)


@entry("MQTT: subscriptions of thousands of topics", "CVE-2019-11779 style; topics", short=True,
       proto="mqtt")
def mqtt_subscribe(cap, size):
    dialogue(cap, size, 1883, MQTT_START, [(0, mqtt(8, struct.pack(">H", i) + (mstr(b"a") +
                                                                             b"\0") * 5000, 2))
                                           for i in range(1, 35)], MQTT_ORDINARY)


@entry("MQTT: a topic of many levels", "CVE-2019-11779, deep topics", proto="mqtt")
def mqtt_levels(cap, size):
    dialogue(cap, size, 1883, MQTT_START, [(0, mqtt(8, struct.pack(">H", i) + mstr(
        b"/" * 65000) + b"\0", 2)) for i in range(1, 12)], MQTT_ORDINARY)


@entry("MQTT: rules on an exchange of messages without end",
       "Crosby and Wallach 2003; values that rules ask for one by one", proto="mqtt", short=True,
       rules="".join(f"alert mqtt any any -> any any ({test}; sid:{i + 1};)\n" for i, test in
                     enumerate(("mqtt.type:15", "mqtt.type:14,nb 7000", "mqtt.type:13",
                                "mqtt.flags:dup", "mqtt.flags:retain", "mqtt.reason_code:77",
                                "mqtt.reason_code:78", "mqtt.type:12,all"))))
def mqtt_release(cap, size):
    dialogue(cap, size, 1883, MQTT_START, [(0, publish(1, 2))] + [
        (1, mqtt(5, b"\0\1")), (0, mqtt(6, b"\0\1", 2))] * 16000, MQTT_ORDINARY)


@entry("MQTT: pings without end", "tiny messages", proto="mqtt", short=True)
def mqtt_pings(cap, size):
    dialogue(cap, size, 1883, MQTT_START, [(0, mqtt(12, b"") * 350000)], MQTT_ORDINARY)


@entry("MQTT: pings in connections that are many and short", "log amplification", proto="mqtt",
       short=True, reaches="eve.records_cut")
def mqtt_ping_flows(cap, size):
    pings_in(cap, size, 500, 700)


@entry("MQTT: properties without end", "loops over properties", proto="mqtt")
def mqtt_properties(cap, size):
    start = [(0, mqtt(1, mstr(b"MQTT") + b"\5\2\0\x3c\0" + mstr(b"me"))), (1, mqtt(2, b"\0\0\0"))]
    many = (b"\x26" + mstr(b"") + mstr(b"")) * 3000
    body = mstr(b"a") + b"\x98\x75" + many + b"x"
    dialogue(cap, size, 1883, start, [(0, mqtt(3, body))] * 50, [(0, mqtt(12, b"")),
                                                                 (1, mqtt(13, b""))] * 5)


def pg(kind, body):
    return kind + struct.pack(">I", 4 + len(body)) + body


PG_START = [(0, struct.pack(">II", 22, 0x30000) + b"user\0postgre\0\0"[:14]),
            (1, pg(b"R", b"\0\0\0\0") + pg(b"Z", b"I"))]
PG_COLUMN = b"a\0" + struct.pack(">IHIHIH", 1, 1, 23, 4, 0, 0)
PG_ORDINARY = [(0, pg(b"Q", b"select 1\0")), (1, pg(b"T", struct.pack(">H", 1) + PG_COLUMN) + pg(
    b"D", struct.pack(">HI", 1, 1) + b"1") + pg(b"C", b"SELECT 1\0") + pg(b"Z", b"I"))]
PG_ON = [PROTOCOLS + "pgsql.enabled=yes", "outputs.1.eve-log.types.32.pgsql.enabled=yes"]


def pgsql_entry(what, source, **options):
    def add(make):
        def both(cap, size):
            dialogue(cap, size, 5432, PG_START, make() if size is None else [], PG_ORDINARY)
        both.__name__ = make.__name__
        entry("PostgreSQL: " + what, source, sets=PG_ON, proto="pgsql", **options)(both)
        return make
    return add


@pgsql_entry("rows of thousands of columns", "log amplification: columns", short=True)
def pgsql_columns():
    return [part for _ in range(20) for part in (
        (0, pg(b"Q", b"select *\0")), (1, pg(b"T", struct.pack(">H", 2000) + PG_COLUMN * 2000) +
                                       pg(b"Z", b"I")))]


@pgsql_entry("queries without an answer", "requests that stay open", short=True)
def pgsql_queries():
    return [(0, pg(b"Q", b"x\0") * 90000)]


@pgsql_entry("rows of no columns without end", "messages of one answer", short=True)
def pgsql_rows():
    return [PG_ORDINARY[0], (1, pg(b"D", b"\0\0") * 90000)]


@pgsql_entry("parameters without end", "log amplification: parameters")
def pgsql_parameters():
    return [(1, pg(b"S", b"a\0b\0") * 70000)]


def enip(command, body, context=0):
    return struct.pack("<HHIIQI", command, len(body), 1, 0, context, 0) + body


def cip(service):
    message = struct.pack("<BB", service, 2) + b"\x20\1\x24\1"
    return struct.pack("<IHH", 0, 0, 2) + struct.pack("<HHHH", 0, 0, 0xb2, len(message)) + message


ENIP_ON = [PROTOCOLS + "enip.enabled=yes"]
ENIP_ORDINARY = [part for i in range(10) for part in (
    (0, enip(0x6f, cip(1), i)), (1, enip(0x6f, cip(0x81), i)))]


@entry("ENIP: requests without an answer", "requests that stay open", sets=ENIP_ON, short=True,
       proto="enip")
def enip_requests(cap, size):
    dialogue(cap, size, 44818, [], [(0, b"".join(enip(0x6f, cip(1), i) for i in range(17000)))],
             ENIP_ORDINARY)


@entry("ENIP: services in services", "CIP multiple service packets", sets=ENIP_ON, short=True,
       proto="enip")
def enip_services(cap, size):
    count = 4000
    inner = b"\1\2\x20\1\x24\1"
    offsets = b"".join(struct.pack("<H", (2 + 2 * count + 6 * i) & 0xffff) for i in range(count))
    message = b"\x0a\2\x20\2\x24\1" + struct.pack("<H", count) + offsets + inner * count
    body = struct.pack("<IHH", 0, 0, 2) + struct.pack("<HHHH", 0, 0, 0xb2, len(message)) + message
    dialogue(cap, size, 44818, [], [(0, enip(0x6f, body, i)) for i in range(20)], ENIP_ORDINARY)


def modbus(i, body):
    return struct.pack(">HHHB", i & 0xffff, 0, 1 + len(body), 1) + body


@entry("Modbus: requests without an answer", "request flood", proto="modbus", short=True,
       sets=[PROTOCOLS + "modbus.enabled=yes"])
def modbus_requests(cap, size):
    dialogue(cap, size, 502, [], [(0, b"".join(modbus(i, b"\3\0\0\0\1") for i in range(65000)))],
             [part for i in range(10) for part in ((0, modbus(i, b"\3\0\0\0\1")),
                                                   (1, modbus(i, b"\3\2\0\1")))])


def crc_dnp(data):
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0xa6bc if crc & 1 else 0)
    return data + struct.pack("<H", ~crc & 0xffff)


def dnp3(application, transport=0xc0):
    user = bytes([transport]) + application
    blocks = b"".join(crc_dnp(user[at:at + 16]) for at in range(0, len(user), 16))
    return crc_dnp(struct.pack("<BBBBHH", 5, 0x64, 5 + len(user), 0xc4, 1, 2)) + blocks


DNP_ON = [PROTOCOLS + "dnp3.enabled=yes"]
DNP_READ = dnp3(b"\xc0\1\x3c\2\6")


@entry("DNP3: requests without an answer", "requests that stay open", sets=DNP_ON, short=True,
       proto="dnp3")
def dnp3_requests(cap, size):
    dialogue(cap, size, 20000, [], [(0, DNP_READ * 40000)], [(0, DNP_READ)] * 5)


@entry("DNP3: objects without end", "log amplification: points and objects", sets=DNP_ON,
       short=True, proto="dnp3")
def dnp3_objects(cap, size):
    objects = dnp3(b"\xc0\1" + b"\x3c\2\6" * 80)
    dialogue(cap, size, 20000, [], [(0, objects * 2200)], [(0, DNP_READ)] * 5)


@entry("DNP3: points of one bit", "log amplification: points and objects", sets=DNP_ON,
       short=True, proto="dnp3")
def dnp3_points(cap, size):
    points = dnp3(b"\xc0\x81\0\0\1\1\0\0\xff" + b"\xff" * 32)
    dialogue(cap, size, 20000, [], [(0, DNP_READ), (1, points * 10000)], [(0, DNP_READ)] * 5)


@entry("DNP3: segments without a last one", "reassembly of transport", sets=DNP_ON, proto="dnp3")
def dnp3_segments(cap, size):
    dialogue(cap, size, 20000, [], [(0, dnp3(b"\xc0\1" + b"a" * 200, 0x40) + b"".join(
        dnp3(b"a" * 240, i & 63) for i in range(1, 2500)))], [(0, DNP_READ)] * 5)
