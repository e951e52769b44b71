# SPDX-License-Identifier: GPL-2.0-or-later
"""run.py FOLDER MODE: one capture without rules, then one with, then one without again; all are
parts of one timeline. Each flow ends its part with a packet that tells so: then the part has been
inspected. The alerts and the count of flows go to stdout."""
import json
import pathlib
import random
import sys
import time

import folder_engine
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


class Engine(folder_engine.FolderEngine):
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

    def must_reload(self, rules):
        if not self.reload(rules):
            raise SystemExit("rules were not taken")


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
    engine = Engine(work, PART_ENDS, mode)
    try:
        engine.read(0)
        engine.must_reload(PART_ENDS + (HERE / "test.rules").read_text())
        engine.read(1)
        engine.must_reload(PART_ENDS)
        engine.read(2)
        engine.end()
    finally:
        engine.process.kill()
    print(*tell(work / "out" / "eve.json"), sep="\n")


main(pathlib.Path(sys.argv[1]), sys.argv[2])
