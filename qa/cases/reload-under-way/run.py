# SPDX-License-Identifier: GPL-2.0-or-later
"""run.py FOLDER: an engine with three threads reads captures that appear in a folder, and loads its
rules again all the while. Most rules stay the same and are shared by old and new rulesets
(detect/rule/rule_block.h). One changes its number each time; a match of it that waits for a packet
is lost then (detect/compile/renumber.h), so each thread may miss one at each reload."""
import collections
import json
import pathlib
import re
import sys
import time

import folder_engine
import pcapgen

CAPTURES, SHARE, FLOWS, RULES, WAIT = 40, 8, 40, 600, 120
THREADS = 3
STAYS, CHANGES = 1, 1000000


def capture(path, number):
    cap = pcapgen.Capture()
    for i in range(FLOWS):
        flow = pcapgen.TcpFlow(cap, f"10.{number}.{i % 5}.{i + 1}", 30000 + i, "192.168.0.1", 7777)
        flow.open()
        flow.to_server(b"hello gopher42 and more")
        flow.to_client(b"nothing")
        flow.close()
    cap.write(path)


def rules(version):
    """The shared ones have contents and expressions; the changed one stands among them."""
    lines = [f'alert tcp any any -> any 7777 (msg:"stays"; content:"hello"; pcre:"/gopher[0-9]+/"; '
             f"sid:{STAYS};)"]
    lines += [f'alert tcp any any -> any any (msg:"other"; content:"word{i}"; '
              f'pcre:"/word{i}[a-z]/R"; sid:{i + 100};)' for i in range(RULES)]
    lines.insert(RULES // 2, 'alert tcp any any -> any 7777 (msg:"changes"; '
                 f'content:"gopher42"; sid:{CHANGES + version};)')
    return "".join(line + "\n" for line in lines)


class Engine(folder_engine.FolderEngine):
    def alerts(self):
        eve = self.work / "out" / "eve.json"
        found = collections.defaultdict(list)
        for line in eve.read_text().splitlines(True) if eve.exists() else []:
            if line.endswith("\n") and '"event_type":"alert"' in line:
                event = json.loads(line)
                found[event["src_ip"], event["src_port"]].append(event["alert"]["signature_id"])
        return found


def read_and_reload(engine):
    """Returns the number of reloads. Some captures appear, and rules are loaded until all flows of
    these have been alerted on."""
    made, end, reloads = sorted((engine.work / "made").iterdir()), time.monotonic() + WAIT, 0
    for first in range(0, CAPTURES, SHARE):
        for path in made[first:first + SHARE]:
            path.touch()            # as if it were written now: the engine waits for `delay`
            path.rename(engine.work / "in" / path.name)
        while len(engine.alerts()) < (first + SHARE) * FLOWS:
            reloads += engine.reload(rules(reloads + 1))
            if time.monotonic() > end or engine.process.poll() is not None:
                raise SystemExit(engine.said()[-2000:] +
                                 f"{len(engine.alerts())} flows alerted on after {first} captures")
    return reloads


def main(work):
    engine = Engine(work, rules(0), "workers", THREADS, delay=1)
    try:
        (work / "made").mkdir()
        for number in range(CAPTURES):
            capture(work / "made" / f"{number:02}.pcap", number)
        reloads = read_and_reload(engine)
        engine.end()
    finally:
        engine.process.kill()
    alerts = engine.alerts()
    wrong = {flow: sids for flow, sids in alerts.items()
             if sids.count(STAYS) != 1 or len(sids) > 2}
    versions = {sid for sids in alerts.values() for sid in sids if sid >= CHANGES}
    between = sum(len(sids) == 1 for sids in alerts.values())
    if wrong or len(versions) < CAPTURES // SHARE or between > reloads * THREADS:
        raise SystemExit(f"{reloads} reloads, {len(versions)} sets alerted, {between} without, "
                         f"wrong: {list(wrong.items())[:3]}")
    if not re.search(r"[1-9]\d\d rules are as before", engine.said()):
        raise SystemExit("no rules were shared")
    print(f"{len(alerts)} flows, each alerted on once by the rule that stays")


main(pathlib.Path(sys.argv[1]))
