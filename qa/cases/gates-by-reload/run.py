# SPDX-License-Identifier: GPL-2.0-or-later
"""run.py FOLDER MODE: one capture without rules, then one with, then one without again; all are
parts of one timeline. The alerts and the count of flows go to stdout."""
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
OTHER = 'alert udp any any -> any any (msg:"never"; sid:9;)'


def captures(work):
    cap, rng, cuts = pcapgen.Capture(), random.Random(3), []
    flows = [pcapgen.TcpFlow(cap, f"10.0.{i}.1", 40000 + i, "10.9.9.9", 7777) for i in range(12)]
    for flow in flows:
        flow.open()
    for count in (60, 400, 60):
        for _ in range(count):
            rng.choice(flows).send(0, pcapgen.PSH | pcapgen.ACK, b"x" * rng.randint(1, 5))
        cuts.append(len(cap.frames))
    begin = 0
    for number, end in enumerate(cuts):
        part = pcapgen.Capture()
        part.frames = cap.frames[begin:end]
        part.write(work / f"part{number}.pcap")
        begin = end
    return cuts


class Engine:
    def __init__(self, work, mode):
        self.work = work
        self.socket = work / "socket"
        (work / "in").mkdir()
        (work / "out").mkdir()
        self.rules = work / "now.rules"
        self.rules.write_text(OTHER)
        self.process = subprocess.Popen(
            [os.environ["IDS"], "-c", os.environ["SRC"] + "/suricata.yaml", "-r", work / "in", "-l", work / "out", "--runmode", mode, "--pcap-file-continuous",
             "--set", f"rule-files.0={self.rules}", "--set", "pcap-file.delay=0", "--set", "pcap-file.poll-interval=1",
             "--set", f"threading.detect-thread-ratio={3 / os.cpu_count()}",
             "--set", f"unix-command.filename={self.socket}",
             "--set", "unix-command.enabled=yes"],
            stdout=(work / "said").open("w"), stderr=subprocess.STDOUT)

    def ask(self, command):
        out = subprocess.run(
            [sys.executable, os.environ["SRC"] + "/scripts/idsc", "-s", self.socket, command],
            stdout=subprocess.PIPE, text=True, check=False)
        return out.stdout if out.returncode == 0 else None

    def read(self, part, packets):
        (self.work / part).rename(self.work / "in" / part)
        end = time.monotonic() + WAIT
        while time.monotonic() < end:
            counters = json.loads(self.ask("dump-counters") or "{}")
            if counters.get("decoder", {}).get("pkts") == packets:
                return
            time.sleep(0.05)
        raise SystemExit(f"{part} was not read")

    def reload(self, rules):
        self.rules.write_text(rules)
        if self.ask("ruleset-reload-rules") is None:
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
    cuts = captures(work)
    engine = Engine(work, mode)
    try:
        engine.read("part0.pcap", cuts[0])
        engine.reload((HERE / "test.rules").read_text())
        engine.read("part1.pcap", cuts[1])
        engine.reload(OTHER)
        engine.read("part2.pcap", cuts[2])
        engine.end()
    finally:
        engine.process.kill()
    print(*tell(work / "out" / "eve.json"), sep="\n")


main(pathlib.Path(sys.argv[1]), sys.argv[2])
