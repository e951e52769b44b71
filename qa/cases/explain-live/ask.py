# SPDX-License-Identifier: GPL-2.0-or-later
"""ask.py IDS SRC MODE: an engine that reads a pipe is asked about rules while requests come."""
import json
import os
import socket
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
BINARY, TOP, MODE = sys.argv[1:]
sys.path.insert(0, os.path.join(TOP, "qa"))
from pcapgen import Capture, TcpFlow  # noqa: E402

RULES = ('alert http any any -> any any (msg:"login"; http.method; content:"POST"; http.uri; '
         'content:"/login"; sid:1;)\n'
         'alert http any any -> any any (msg:"get"; http.method; content:"GET"; sid:2;)\n')


class Commands:
    """The control socket."""

    def __init__(self, path, engine):
        self.socket = socket.socket(socket.AF_UNIX)
        while True:
            assert engine.poll() is None, "the engine has ended"
            try:
                self.socket.connect(path)
                break
            except OSError:
                time.sleep(0.05)
        self.file = self.socket.makefile("rw")
        self.exchange({"version": "0.2"})

    def exchange(self, message):
        self.file.write(json.dumps(message) + "\n")
        self.file.flush()
        return json.loads(self.file.readline())

    def run(self, name, **arguments):
        return self.exchange({"command": name, **({"arguments": arguments} if arguments else {})})

    def said(self, name, **arguments):
        answer = self.run(name, **arguments)
        assert answer["return"] == "OK", answer
        return answer["message"]

    def answer(self):
        """When the question is over."""
        while True:
            message = self.said("explain-result", json=True)
            if message["state"] not in ("running", "ending"):
                return message
            time.sleep(0.05)


class Feed(threading.Thread):
    """Requests without an end, until it is told."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.path, self.enough, self.port = path, threading.Event(), 1024
        self.silent = threading.Event()

    def frames(self):
        cap = Capture()
        for _ in range(50):
            self.port = 1024 + (self.port - 1023) % 60000
            flow = TcpFlow(cap, "10.0.0.1", self.port, "10.0.0.2", 80)
            flow.open()
            flow.to_server(b"GET /Login HTTP/1.1\r\nHost: a.example\r\n\r\n")
            flow.to_client(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
            flow.close()
        cap.write("part.pcap")
        with open("part.pcap", "rb") as f:
            return f.read()

    def run(self):
        with open(self.path, "wb") as pipe:
            pipe.write(self.frames()[:24])
            while not self.enough.is_set():
                if not self.silent.is_set():
                    pipe.write(self.frames()[24:])
                    pipe.flush()
                time.sleep(0.01)


def main():
    for name in ("in.pcap", "socket"):
        if os.path.exists(name):
            os.remove(name)
    os.mkfifo("in.pcap")
    with open("test.rules", "w", encoding="ascii") as f:
        f.write(RULES)
    with open("told", "w", encoding="utf-8") as told:
        engine = subprocess.Popen(
            [BINARY, "-c", f"{TOP}/suricata.yaml", "-S", "test.rules", "-l", ".", "-k", "none",
             "--runmode", MODE, "-r", "in.pcap", "--set", "unix-command.enabled=yes",
             "--set", f"unix-command.filename={os.getcwd()}/socket"], stdout=told, stderr=told)
    feed = Feed("in.pcap")
    feed.start()
    commands = Commands("socket", engine)
    assert commands.answer()["state"] == "none"
    assert commands.run("explain", sid="all")["return"] == "NOK"
    assert commands.run("explain", sid="x")["return"] == "NOK"
    assert commands.run("explain", sid="1", seconds=0)["return"] == "NOK"

    # Ends by itself.
    commands.said("explain", sid="1", seconds=2)
    assert commands.run("explain", sid="2")["return"] == "NOK"
    answer = commands.answer()
    rule = answer["rules"][0]
    assert answer["state"] == "done" and 0 < answer["asked"] <= answer["packets"], answer
    assert 'http.uri has "/Login", the rule wants "/login"' in rule["verdict"] or \
        'http.method' in rule["verdict"], rule["verdict"]
    assert rule["sid"] == 1 and rule["fired"] == 0 and rule["rule"] == RULES.split("\n")[0], rule
    assert {c["outcome"] for c in rule["nearest"][0]["conditions"]} == {"pass", "fail"}, rule
    asked = 1

    # Ends by the command; what it says stays.
    commands.said("explain", sid="2,1", seconds=600)
    while commands.said("explain-result", json=True)["state"] == "running":
        time.sleep(1)
        commands.said("explain-stop")
    answer = commands.answer()
    assert [r["sid"] for r in answer["rules"]] == [2, 1], answer
    assert answer["rules"][0]["fired"] > 0 and answer["rules"][0]["nearest"][0]["distance"] == 0
    assert commands.said("explain-result").startswith("Rule 2 fired "), answer
    assert commands.answer() == answer
    asked += 1

    # The pipe stays open, and nothing comes: the question begins and ends all the same.
    feed.silent.set()
    commands.said("explain", sid="1", seconds=600)
    commands.said("explain-stop")
    assert commands.answer()["state"] == "done"
    asked += 1
    feed.enough.set()
    feed.join()
    engine.wait()
    with open("told", encoding="utf-8") as told:
        assert engine.returncode == 0, told.read()
    print(f"{MODE}: did not fire, then fired, {asked} of 3 questions")


main()
