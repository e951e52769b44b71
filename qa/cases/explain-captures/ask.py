# SPDX-License-Identifier: GPL-2.0-or-later
"""ask.py IDS SRC: a question, then one capture; a question, then two."""
import json
import os
import socket
import subprocess
import sys
import time

BINARY, TOP = sys.argv[1:]
PATIENCE = 60                           # seconds, for a machine that is busy
SAMPLE = os.path.join(TOP, "qa/samples/quickstart.pcap")


class Engine:
    def __init__(self):
        path = os.path.join(os.getcwd(), "socket")
        self.process = subprocess.Popen(
            [BINARY, "-c", f"{TOP}/suricata.yaml", "-S", "test.rules", "-l", ".",
             f"--unix-socket={path}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.socket = socket.socket(socket.AF_UNIX)
        self.until(lambda: self.socket.connect_ex(path) == 0)
        self.file = self.socket.makefile("rw")
        self.exchange({"version": "0.2"})

    def until(self, condition):
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end and self.process.poll() is None, "waited in vain"
            time.sleep(0.02)

    def exchange(self, message):
        self.file.write(json.dumps(message) + "\n")
        self.file.flush()
        return json.loads(self.file.readline())

    def ask(self, name, **arguments):
        answer = self.exchange({"command": name, "arguments": arguments})
        assert answer["return"] == "OK", answer
        return answer["message"]

    def is_idle(self):
        # The queue first: what leaves it afterwards is running by the second question.
        return self.ask("pcap-file-number") == 0 and self.ask("pcap-current") == "None"

    def explained(self, captures):
        """The answer, and the packets that came."""
        self.ask("explain", sid="1,2", seconds=3600)
        for _ in range(captures):
            self.ask("pcap-file", **{"filename": SAMPLE, "output-dir": os.getcwd()})
        self.until(self.is_idle)
        self.ask("explain-stop")
        return self.ask("explain-result"), self.ask("explain-result", json=True)["packets"]


def main():
    with open("test.rules", "w", encoding="ascii") as f:
        f.write('alert http any any -> any any (http.uri; content:"/Login"; sid:1;)\n'
                'alert tcp any any -> any any (flags:S; sid:2;)\n')
    engine = Engine()
    once, packets = engine.explained(1)
    twice, packets_twice = engine.explained(2)
    engine.process.terminate()
    assert engine.process.wait(PATIENCE) == 0
    print(once)
    print(f"same answer: {once == twice}, twice the packets: {packets_twice == 2 * packets > 0}")


main()
