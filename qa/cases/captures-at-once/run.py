# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures by command, several at once."""
import json
import os
import shutil
import signal
import socket
import subprocess
import time

IDS, SRC, QA, WORK = (os.environ[k] for k in ("IDS", "SRC", "QA", "WORK"))
SAMPLE = f"{QA}/samples/quickstart.pcap"
RULES = f"{WORK}/test.rules"
PATH = f"{WORK}/socket"
PATIENCE = 60                           # seconds, for a machine that is busy


def until(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise SystemExit("waited in vain")
        time.sleep(0.02)


class Engine:
    def __init__(self):
        self.process = subprocess.Popen(
            [IDS, "-c", f"{SRC}/suricata.yaml", "-S", RULES, "-l", WORK, f"--unix-socket={PATH}",
             "--set", "unix-command.parallel-jobs=2", "--runmode", "single"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.socket = socket.socket(socket.AF_UNIX)
        until(self.connected)
        self.file = self.socket.makefile("rw")
        self.exchange({"version": "0.2"})

    def connected(self):
        try:
            self.socket.connect(PATH)
            return True
        except OSError:
            return False

    def exchange(self, message):
        self.file.write(json.dumps(message) + "\n")
        self.file.flush()
        return json.loads(self.file.readline())

    def ask(self, name, **arguments):
        return self.exchange({"command": name, "arguments": arguments})

    def read(self, file, directory, **arguments):
        directory = f"{WORK}/{directory}"
        os.makedirs(directory, exist_ok=True)
        return self.ask("pcap-file", **{"filename": file, "output-dir": directory, **arguments})

    def running(self):
        return self.ask("pcap-file-running")["message"]

    def pids(self):
        """A capture whose process is being made has none yet."""
        return [r.get("pid") for r in self.running()]

    def is_idle(self):
        """A capture goes from the waiting ones to those that run, so the waiting ones come first."""
        return self.ask("pcap-file-number")["message"] == 0 and not self.running()


def records(directory):
    """Without what each process draws for itself, and without statistics."""
    found = []
    with open(f"{WORK}/{directory}/eve.json") as f:
        for line in f:
            record = json.loads(line)
            record.pop("flow_id", None)
            if record["event_type"] != "stats":
                found.append(json.dumps(record, sort_keys=True))
    return sorted(found)


def same_records(engine):
    for i in range(6):
        engine.read(SAMPLE, f"once{i}")
    until(engine.is_idle)
    engine.read(SAMPLE, "alone", parallel=1)
    until(engine.is_idle)
    alone = records("alone")
    same = sum(records(f"once{i}") == alone for i in range(6))
    print(f"records as alone: {same if alone else 'none'} of 6")


def directories(engine):
    """Watched directories do not end by themselves."""
    for i in range(5):
        os.makedirs(f"{WORK}/watched{i}", exist_ok=True)
        shutil.copy(SAMPLE, f"{WORK}/watched{i}/a.pcap")
        engine.read(f"{WORK}/watched{i}", f"logs{i}", continuous=True)
    until(lambda: len(engine.pids()) == 2 and None not in engine.pids())
    running = engine.running()
    if engine.ask("pcap-file-list")["message"]["count"] == 3 and \
            len({r["pid"] for r in running} | {engine.process.pid}) == 3 and \
            all(r["memory-kb"] > 0 for r in running):
        print("three wait, two run in processes of their own")


def killed(engine):
    first, second = engine.running()
    os.kill(first["pid"], signal.SIGKILL)
    until(lambda: engine.ask("pcap-file-failed")["message"]["count"] == 1)
    failed = engine.ask("pcap-file-failed")["message"]
    assert failed["last-file"] == first["filename"], failed
    print("killed:", failed["last-error"])
    until(lambda: len(engine.pids()) == 2 and None not in engine.pids())
    if second["pid"] in engine.pids():
        print("the other one runs on")


def interrupted(engine):
    first, second = engine.running()
    engine.ask("pcap-interrupt", filename=second["filename"])
    until(lambda: second["pid"] not in engine.pids())
    if first["pid"] in engine.pids():
        print("named one interrupted: the other one runs on")
    until(lambda: engine.ask("pcap-interrupt") and engine.is_idle())


def main():
    with open(RULES, "w") as f:
        f.write('alert http any any -> any any (msg:"any"; http.uri; content:"/"; sid:1;)\n'
                'alert ip any any -> any any (msg:"first"; '
                'threshold:type limit, track by_rule, count 1, seconds 3600; sid:2;)\n')
    engine = Engine()
    same_records(engine)
    directories(engine)
    killed(engine)
    interrupted(engine)
    engine.read(f"{WORK}/watched0", "here", continuous=True, parallel=1)
    until(lambda: os.path.exists(f"{WORK}/here/eve.json"))
    if "pid" not in engine.running()[0]:
        print("alone: no process")
    print("a number that is none:", engine.read(SAMPLE, "x", parallel=0)["return"])
    until(lambda: engine.ask("pcap-interrupt") and engine.is_idle())
    print("after all:", engine.ask("pcap-current")["message"])
    engine.read(f"{WORK}/watched0", "here", continuous=True)
    until(lambda: engine.running())
    until(lambda: "pid" in engine.running()[0])
    pid = engine.running()[0]["pid"]
    engine.ask("shutdown")
    status = engine.process.wait(PATIENCE)
    print("the engine ends its processes:", status, os.path.exists(f"/proc/{pid}"))


main()
