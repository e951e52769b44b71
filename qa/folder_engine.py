# SPDX-License-Identifier: GPL-2.0-or-later
"""An engine that reads the captures which appear in a folder, and whose rules can be changed
meanwhile. For cases about reloads: one run goes through several sets of rules."""
import os
import subprocess
import sys

WAIT = 120


class FolderEngine:
    """`work` gets `in` (read), `out` (logs) and `said` (messages); `threads` of them detect. `delay`
    is the age in seconds from which a capture is read."""

    def __init__(self, work, rules, mode, threads=3, delay=0):
        self.work, self.socket, self.rules = work, work / "socket", work / "now.rules"
        for name in ("in", "out"):
            (work / name).mkdir(exist_ok=True)
        self.rules.write_text(rules)
        with (work / "said").open("w") as said:
            self.process = subprocess.Popen(
                [os.environ["IDS"], "-c", os.environ["SRC"] + "/suricata.yaml", "-r", work / "in",
                 "-l", work / "out", "--runmode", mode, "--pcap-file-continuous", "-vvv",
                 "--set", f"pcap-file.delay={delay}", "--set", "pcap-file.poll-interval=1",
                 "--set", f"rule-files.0={self.rules}",
                 "--set", f"threading.detect-thread-ratio={threads / os.cpu_count()}",
                 "--set", f"unix-command.filename={self.socket}",
                 "--set", "unix-command.enabled=yes"],
                stdout=said, stderr=subprocess.STDOUT)

    def ask(self, command):
        return subprocess.run(
            [sys.executable, os.environ["SRC"] + "/scripts/idsc", "-s", self.socket, command],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False).returncode == 0

    def said(self):
        return (self.work / "said").read_text()

    def reload(self, rules):
        """Whether the engine took them."""
        self.rules.write_text(rules)
        return self.ask("ruleset-reload-rules")

    def end(self):
        self.ask("shutdown")
        if self.process.wait(WAIT) != 0:
            raise SystemExit("did not end well\n" + self.said()[-4000:])
