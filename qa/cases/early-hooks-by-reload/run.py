# SPDX-License-Identifier: GPL-2.0-or-later
"""run.py FOLDER MODE: one capture without rules, then one with, then one without again; all are
parts of one timeline. Each flow ends its part with a packet that tells so: then the part has been
inspected. The alerts and the count of flows go to stdout."""
import json
import os
import pathlib
import random
import subprocess
import sys
import time

import pcapgen

HERE = pathlib.Path(__file__).parent
WAIT = 60
FLOWS, ENDS = 12, 9
PART_ENDS = f'alert tcp any any -> any any (msg:"part ends"; dsize:6; sid:{ENDS};)\n'


def captures(work):
    cap, rng, cuts = pcapgen.Capture(), random.Random(3), [0]
    flows = [pcapgen.TcpFlow(cap, f"10.0.{i}.1", 40000 + i, "10.9.9.9", 7777)
             for i in range(FLOWS)]
    for flow in flows:
        flow.open()
    for count in (60, 400, 60):
        for _ in range(count):
            rng.choice(flows).send(0, pcapgen.PSH | pcapgen.ACK, b"x" * rng.randint(1, 5))
        for flow in flows:
            flow.send(0, pcapgen.PSH | pcapgen.ACK, b"x" * 6)
        cuts.append(len(cap.frames))
    for number, (begin, end) in enumerate(zip(cuts, cuts[1:])):
        part = pcapgen.Capture()
        part.frames = cap.frames[begin:end]
        part.write(work / f"part{number}.pcap")


class Engine:
    def __init__(self, work, mode):
        self.work = work
        self.socket = work / "socket"
        (work / "in").mkdir()
        (work / "out").mkdir()
        self.rules = work / "now.rules"
        self.rules.write_text(PART_ENDS)
        self.process = subprocess.Popen(
            [os.environ["IDS"], "-c", os.environ["SRC"] + "/suricata.yaml", "-r", work / "in",
             "-l", work / "out", "--runmode", mode, "--pcap-file-continuous",
             "--set", "pcap-file.delay=0", "--set", "pcap-file.poll-interval=1",
             "--set", f"rule-files.0={self.rules}",
             "--set", f"threading.detect-thread-ratio={3 / os.cpu_count()}",
             "--set", f"unix-command.filename={self.socket}",
             "--set", "unix-command.enabled=yes"],
            stdout=(work / "said").open("w"), stderr=subprocess.STDOUT)

    def ask(self, command):
        return subprocess.run(
            [sys.executable, os.environ["SRC"] + "/scripts/idsc", "-s", self.socket, command],
            stdout=subprocess.PIPE, check=False).returncode == 0

    def read(self, number):
        """One more part, to its end."""
        (self.work / f"part{number}.pcap").rename(self.work / "in" / f"part{number}.pcap")
        end = time.monotonic() + WAIT
        while self.ends() < FLOWS * (number + 1):
            if time.monotonic() > end:
                raise SystemExit(f"part {number} was not read")
            time.sleep(0.05)

    def ends(self):
        eve = self.work / "out" / "eve.json"
        return eve.read_text().count(f'"signature_id":{ENDS},') if eve.exists() else 0

    def reload(self, rules):
        self.rules.write_text(rules)
        if not self.ask("ruleset-reload-rules"):
            raise SystemExit("rules were not taken")

    def end(self):
        self.ask("shutdown")
        if self.process.wait(WAIT) != 0:
            raise SystemExit("did not end well")


def tell(path):
    alerts, flows = [], 0
    for line in path.open():
        event = json.loads(line)
        flows += event["event_type"] == "flow"
        if event["event_type"] == "alert":
            alerts.append((event["pcap_cnt"], event["alert"]["signature_id"], event["src_ip"]))
    return sorted(alerts), flows


def main(work, mode):
    captures(work)
    engine = Engine(work, mode)
    try:
        engine.read(0)
        engine.reload(PART_ENDS + (HERE / "test.rules").read_text())
        engine.read(1)
        engine.reload(PART_ENDS)
        engine.read(2)
        engine.end()
    finally:
        engine.process.kill()
    print(*tell(work / "out" / "eve.json"), sep="\n")


main(pathlib.Path(sys.argv[1]), sys.argv[2])
