# SPDX-License-Identifier: GPL-2.0-or-later
"""Attacks on outputs that write lines, data or files beside eve.json and fast.log. The entries run with
the settings of doc/security.md for hostile surroundings, which bound all of them together."""
from attacks_binary import MQTT_ORDINARY, MQTT_START, mqtt
from attacks_budgets import script
from attacks_floods import HOSTILE
from attacks_http import GET, exchange, gzip_of, pages
from attacks_mail import dialogue
from attacks_packets import transfers
from attacks_rules import rule
from catalogue import connect, entry, host, one_segment, rounds
from pcapgen import ACK, PSH, http_request, http_response

SOURCE = "log amplification"
NO_RULES = 'alert tcp any any -> any any (content:"nowhere at all"; sid:1;)\n'


def output(number, name, *settings):
    """Settings that switch on an output of suricata.yaml."""
    return [f"outputs.{number}.{name}.{setting}" for setting in ("enabled=yes", *settings)]


@entry("logs: lines of http-log in a format of the operator, for short requests", SOURCE, short=True,
       proto="http", rules=NO_RULES, reaches="log.left_out",
       sets=HOSTILE + output(10, "http-log", "custom=yes",
                             "customformat=%{%D-%H:%M:%S}t.%z %h %m %u %u %{User-Agent}i %a:%p %A:%P"))
def log_http_lines(cap, size):
    if size is not None:
        pages(cap, size, 300)
        return
    for i in range(40):
        flow = connect(cap, 80, i)
        for _ in range(60):
            one_segment(flow, 0, (b"GET /" + b"\xff" * 200 + b" HTTP/1.1\r\nHost: a\r\n\r\n") * 6)
            one_segment(flow, 1, b"HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n" * 6)


@entry("logs: bombs written by http-body-data, as a dump and as files", "zip bombs; log amplification",
       short=True, proto="http", rules=NO_RULES, reaches="log.left_out",
       sets=HOSTILE + output(8, "http-body-data", "type=both"))
def log_body_data(cap, size):
    if size is not None:
        pages(cap, size, 1000, "gzip")
        return
    body = gzip_of(bytes(64 << 10))
    for i in range(1000):
        flow = connect(cap, 80, i)
        exchange(flow, "gzip", body)
        flow.close()


@entry("logs: segments of a byte written by tcp-data, as a dump and as files", SOURCE, rules=NO_RULES,
       sets=HOSTILE + output(7, "tcp-data", "type=both"))
def log_tcp_data(cap, size):
    if size is not None:
        transfers(cap, size, 20000)
        return
    for i in range(2000):
        flow = connect(cap, 9999, i)
        for _ in range(4):
            flow.send(0, PSH | ACK, b"x")
            flow.send(1, PSH | ACK, b"y")


@entry("logs: thousands of small files for the file store, each with a record", "CVE-2023-24998, many parts",
       short=True, proto="http", rules=NO_RULES, reaches="log.left_out",
       sets=HOSTILE + output(6, "file-store", "version=2", "force-filestore=yes", "write-fileinfo=yes"))
def log_file_store(cap, size):
    if size is not None:
        pages(cap, size, uploads=True)
        return
    part = b'--b\r\nContent-Disposition: form-data; name="f"; filename="%d"\r\n\r\n%d\r\n'
    for i in range(3):
        body = b"".join(part % (j, 4000 * i + j) for j in range(4000)) + b"--b--\r\n"
        flow = connect(cap, 80, i)
        flow.to_server(http_request("a", "/up", method="POST", body=body,
                                    headers=("Content-Type: multipart/form-data; boundary=b",)))
        flow.to_client(http_response(b"ok"))


@entry("logs: bombs for the file store", "zip bombs", proto="http", rules=NO_RULES, reaches="log.left_out",
       sets=HOSTILE + output(6, "file-store", "version=2", "force-filestore=yes", "write-fileinfo=yes"))
def log_file_store_bombs(cap, size):
    if size is not None:
        pages(cap, size, 1000, "gzip")
        return
    for i in range(1000):
        flow = connect(cap, 80, i)
        exchange(flow, "gzip", gzip_of(b"%d" % i + bytes(64 << 10)))
        flow.close()


WRITER = """
function init(args) return { type = "packet" } end
function setup(args) file = io.open("script.log", "a") end
function log(args) file:write(string.rep("x", 2000), "\\n") end
function deinit(args) file:close() end
"""


@entry("logs: a script that writes two kilobytes for each packet", SOURCE, short=True, rules=NO_RULES,
       reaches="log.left_out",
       sets=HOSTILE + output(9, "lua", "scripts-dir=", "scripts.0=" + script("writer", WRITER)))
def log_script(cap, size):
    for i in rounds(cap, size, 12000):
        cap.udp(host(i % 100), 4000, "192.168.0.1", 4001, b"x" if size is None else b"x" * 1400)


@entry("logs: a record for each packet that is dropped", SOURCE, short=True, args=["--simulate-ips"],
       rules=rule('content:"a";').replace("alert", "drop", 1),
       sets=HOSTILE + ["outputs.1.eve-log.types.36.drop.flows=all"])
def log_drops(cap, size):
    if size is not None:
        transfers(cap, size, 20000)
        return
    for i in range(10):
        flow = connect(cap, 9999, i)
        for _ in range(800):
            flow.send(0, PSH | ACK, b"a")
            flow.send(1, ACK)


@entry("logs: a record for each frame of two bytes", SOURCE, proto="mqtt", reaches="log.left_out",
       rules='alert mqtt any any -> any any (frame:mqtt.pdu; content:"nowhere at all"; sid:1;)\n',
       sets=HOSTILE + ["outputs.1.eve-log.types.36.frame.enabled=yes"])
def log_frames(cap, size):
    if size is not None:
        dialogue(cap, size, 1883, MQTT_START, [], MQTT_ORDINARY)
        return
    for i in range(20):
        flow = connect(cap, 1883, i)
        for side, data in MQTT_START:
            flow.data(side, data)
        for _ in range(10):
            one_segment(flow, 0, mqtt(12, b"") * 200)
            one_segment(flow, 1, mqtt(13, b"") * 200)


@entry("logs: a redirect whose lines show it twice, in http-log with more fields", SOURCE, proto="http",
       rules=NO_RULES, sets=HOSTILE + output(10, "http-log", "extended=yes"))
def log_http_extended(cap, size):
    if size is not None:
        pages(cap, size, 300)
        return
    for i in range(20):
        flow = connect(cap, 80, i)
        for _ in range(100):
            flow.to_server(GET)
            flow.to_client(b"HTTP/1.1 302 F\r\nLocation: /" + b"\xff" * 900 + b"\r\nContent-Length: 0\r\n\r\n")
