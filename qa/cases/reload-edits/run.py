# SPDX-License-Identifier: GPL-2.0-or-later
"""run.py FOLDER: edits rules at random, with a fixed seed. After each edit a running engine reloads
them and reads a capture; a new engine reads the capture with the same rules. Both must have the same
events. The rules take several blocks (detect/rule/rule_block.h), so most are not parsed again."""
import base64
import hashlib
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import time

import pcapgen

RELOADS, RULES, WAIT = 12, 900, 60
RNG = random.Random(18)
WORDS = [a + b for a in ("ab", "cor", "del", "fen", "gur", "hul", "jad", "kem")
         for b in ("bas", "dit", "fol", "gun", "lem", "mop", "nur")]
CLASSES = ["one", "two", "three"]


def names(words=3):
    return [RNG.choice(WORDS) for _ in range(words)]


def capture(path):
    cap = pcapgen.Capture()
    for i in range(60):
        flow = pcapgen.TcpFlow(cap, f"10.0.{i % 5}.{i + 1}", 30000 + i, f"192.168.0.{i % 7 + 1}",
                               (80, 7777, 9000)[i % 3])
        a, b, c = names()
        flow.open()
        if i % 3 == 0:
            flow.to_server(pcapgen.http_request(f"{a}.example", f"/{b}?q={c}", f"{a} {c.upper()}"))
            flow.to_client(pcapgen.http_response(f"{b} {c} {a}".encode() * 20))
        else:
            flow.to_server(f"{a}{i % 10} {b}:{c}".encode() + bytes([0, i, 2, 3]))
            flow.to_client(f"{c.upper()} {b}".encode())
        flow.close()
        cap.udp(f"10.0.0.{i + 1}", 5000 + i, "192.168.0.53", 53,
                pcapgen.dns_query(i, f"{b}.{c}.example"))
        cap.udp(f"10.0.1.{i + 1}", 5000 + i, "192.168.0.9", 999, f"{c}{a}".encode())
        cap.ping(f"10.0.2.{i + 1}", "192.168.0.1", payload=f"{a}{b}".encode())
    cap.write(path)


def options(work):
    """What a rule looks for, of all kinds that a reload treats differently."""
    a, b, c = names()
    n = RNG.randrange(256)
    return RNG.choice([
        ("tcp", f'content:"{a}"; content:"{b}"; distance:1; within:40;'),
        ("tcp", f'content:"{a}"; nocase; pcre:"/{b[:2]}[a-z]+/";'),
        ("tcp", f'flow:established,to_client; content:"{a.upper()}"; pcre:"/{c[:2]}\\w/i";'),
        ("tcp", f'content:"|{n:02x}|"; offset:3; depth:30; flowbits:set,{a};'),
        ("tcp", f'flowbits:isset,{a}; flowbits:isnotset,{b}; content:"{c[:4]}";'),
        ("tcp", f'content:"{a}"; byte_extract:1,1,v,relative,string,dec; byte_test:1,<,v,0,relative;'),
        ("tcp", f'content:"{a}"; threshold:type limit, track by_src, count 1, seconds 60;'),
        ("tcp", f'content:"{a}"; hostbits:set,{b},src; dsize:>3;'),
        ("http", f'http.uri; content:"/{a}"; fast_pattern; http.user_agent; content:"{b[:3]}";'),
        ("http", f'http.uri; content:"{a}"; endswith; pcre:"/q=({c[:2]})[a-z]*/";'),
        ("http", f'http.user_agent; to_lowercase; content:"{a}";'),
        ("http", f'http.host; dotprefix; content:".{a}.example"; endswith;'),
        ("http", f'http.uri; pcrexform:"q=(\\w\\w)"; content:"{c[:2]}";'),
        ("http", f'http.uri; xor:"{n:02x}"; content:"|{ord(a[0]) ^ n:02x}|";'),
        ("http", f'file_data; content:"{a} {b}";'),
        ("http", f'http.uri; to_md5; dataset:isset,md5s,type string,load {work}/md5s;'),
        ("http", f'http.host; dataset:isset,hosts-{n % 4},type string,load {work}/hosts;'),
        ("http", f'filemd5:{work}/hashes;'),
        ("dns", f'dns.query; content:"{a}"; content:"{b}"; distance:0;'),
        ("dns", f'dns.query; domain; content:"{a[:3]}"; nocase;'),
        ("udp", f'content:"{a}"; startswith;'),
        ("icmp", f'itype:8; content:"{a}";'),
        ("ip", 'noalert; ttl:<2;'),
        ("ip", ""),
    ])


def rule(work, sid):
    proto, tests = options(work)
    source = RNG.choice(["any", "any", "$HOME_NET", f"10.0.{sid % 5}.0/24", f"!10.0.{sid % 4}.0/24",
                         f"[10.0.{sid % 3}.0/24,10.0.4.{sid % 60}]"])
    if tests == "":
        source = f"10.0.{sid % 3}.{sid % 60}"
    ports = RNG.choice(["any", "any", "$HTTP_PORTS", "[7777,9000:9010]", "!80"])
    arrow = RNG.choice(["->", "->", "->", "<>"])
    return (f'{RNG.choice(["alert", "alert", "alert", "drop", "pass"] if sid % 40 == 0 else ["alert"])}'
            f' {proto} {source} any {arrow} any {ports if proto in ("tcp", "http") else "any"} '
            f'(msg:"rule {sid} {"x" * RNG.randrange(60)}"; {tests} '
            f'classtype:{RNG.choice(CLASSES)}; reference:url,example.org/{sid % 50}; '
            f'metadata:created_at 20{sid % 30:02}, tag {RNG.choice(WORDS)}; '
            f'{"priority:2; " if sid % 11 == 0 else ""}sid:{sid}; rev:{RNG.randint(1, 9)};)')


class Edits:
    """The rules, the files that they name, and their classes, as they are now."""

    def __init__(self, work):
        self.work, self.sid = work, 0
        self.rules = [self.new() for _ in range(RULES)]
        self.priority, self.threshold = 1, ""
        self.write_lists()

    def new(self):
        self.sid += 1
        return rule(self.work, self.sid)

    def write_lists(self):
        def encoded(values):
            return "".join(base64.b64encode(v.encode()).decode() + "\n" for v in values)

        uris = [f"/{a}?q={c}" for a in names(20) for c in names(20)]
        (self.work / "md5s").write_text("".join(
            base64.b64encode(hashlib.md5(u.encode()).digest()).decode() + "\n" for u in uris))
        (self.work / "hosts").write_text(encoded(f"{w}.example" for w in names(20)))
        (self.work / "hashes").write_text("".join(
            hashlib.md5(f"{a} {b} {c}".encode() * 20).hexdigest() + "\n"
            for a in names(4) for b in names(4) for c in names(4)))

    def edit(self, number):
        at = RNG.randrange(len(self.rules))
        kind = number % 6
        if kind == 0:
            self.rules[at] = self.new()
        elif kind == 1:
            del self.rules[at:at + RNG.randint(1, 60)]
        elif kind == 2:
            self.rules[at:at] = [self.new() for _ in range(RNG.randint(1, 60))]
        elif kind == 3:
            RNG.shuffle(self.rules)
            self.threshold = f"suppress gen_id 1, sig_id {RNG.randint(1, self.sid)}\n" \
                             f"threshold gen_id 1, sig_id {RNG.randint(1, self.sid)}, type limit, " \
                             "track by_rule, count 1, seconds 60\n"
        elif kind == 4:
            self.write_lists()
            self.rules += [re.sub(r"rev:\d+", "rev:99", r) for r in RNG.sample(self.rules, 5)]
            self.rules.append("alert tcp any any -> any any (msg:\"wrong\"; content:; sid:1000000;)")
        else:
            self.priority += 1

    def write(self):
        classes = "".join(f"config classification: {c},Class {c},{self.priority + i}\n"
                          for i, c in enumerate(CLASSES))
        (self.work / "test.rules").write_text("".join(r + "\n" for r in self.rules))
        (self.work / "classes").write_text(classes)
        (self.work / "threshold").write_text(self.threshold)
        (self.work / "references").write_text("config reference: url http://\n")


def arguments(work):
    return [os.environ["IDS"], "-c", os.environ["SRC"] + "/suricata.yaml", "-l", work, "-vvv",
            "-S", work / "test.rules", "--no-random", "--runmode", "single",
            "--set", f"classification-file={work}/classes",
            "--set", f"reference-config-file={work}/references",
            "--set", f"threshold-file={work}/threshold",
            "--set", "unix-command.reload-given-rules=yes",
            "--set", "datasets.rules.allow-absolute-filenames=yes",
            "--set", "outputs.eve-log.types.0.alert.metadata=yes"]


class Engine:
    def __init__(self, work):
        self.work, self.socket, self.messages = work, work / "socket", work / "messages"
        self.process = subprocess.Popen(arguments(work) + [f"--unix-socket={self.socket}"],
                                        stdout=self.messages.open("w"), stderr=subprocess.STDOUT)
        self.wait(lambda: self.socket.exists() and self.ask("uptime"))

    def ask(self, *command):
        return subprocess.run(
            [sys.executable, os.environ["SRC"] + "/scripts/idsc", "-s", self.socket, *command],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False).returncode == 0

    def wait(self, is_so):
        end = time.monotonic() + WAIT
        while not is_so():
            if time.monotonic() > end or self.process.poll() is not None:
                raise SystemExit("the engine does not answer\n" + self.messages.read_text()[-2000:])
            time.sleep(0.02)

    def read(self, out):
        out.mkdir()
        if not self.ask("pcap-file", self.work / "in.pcap", out):
            raise SystemExit("the capture was refused")
        self.wait(lambda: complete(out))


def complete(out):
    path = out / "eve.json"
    return path.exists() and '"event_type":"stats"' in path.read_text()


def events(path):
    found = []
    for line in path.open():
        event = json.loads(line)
        if event["event_type"] != "stats":
            event.pop("flow_id", None)
            found.append(json.dumps(event, sort_keys=True))
    return sorted(found)


def fresh(work, number):
    out = work / f"fresh{number}"
    out.mkdir()
    subprocess.run(arguments(work) + ["-l", out, "-r", work / "in.pcap"], check=True,
                   stdout=(out / "messages").open("w"), stderr=subprocess.STDOUT)
    return events(out / "eve.json")


def compare(number, after, expected):
    if after == expected:
        return
    more, fewer = set(after) - set(expected), set(expected) - set(after)
    raise SystemExit("\n".join([f"reload {number}: {len(more)} events more, {len(fewer)} fewer",
                                *sorted(more)[:3], *sorted(fewer)[:3]]))


def main(work):
    capture(work / "in.pcap")
    edits = Edits(work)
    edits.write()
    engine = Engine(work)
    alerts = 0
    try:
        for number in range(RELOADS):
            edits.edit(number)
            edits.write()
            if not engine.ask("ruleset-reload-rules"):
                raise SystemExit("rules were not taken")
            engine.read(work / f"after{number}")
            after = events(work / f"after{number}" / "eve.json")
            compare(number, after, fresh(work, number))
            alerts += sum('"event_type": "alert"' in e for e in after)
        engine.ask("shutdown")
        if engine.process.wait(WAIT) != 0:
            raise SystemExit("did not end well")
    finally:
        engine.process.kill()
    found = re.findall(r"(\d+) rules are as before, (\d+) were parsed",
                       engine.messages.read_text())
    print(f"as fresh starts: {RELOADS} reloads, {alerts} alerts, {found}")
    if alerts > 1000 and sum(int(same) > 3 * int(parsed) for same, parsed in found) > RELOADS / 2:
        print("parsed again: some rules")


main(pathlib.Path(sys.argv[1]))
