# SPDX-License-Identifier: GPL-2.0-or-later
"""A cluster as its users start it: `ray start`, a token, and `ids-fleet run` as a program."""

import json
import os
import re
import secrets
import signal
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

import pytest
from conftest import alone, binary, free_port, listening, write

from ids_fleet import tables
from ids_fleet.store import Store

PROGRAMS = Path(sys.executable).parent
START_TRIES = 1200              # tenths of a second: a head has a dozen processes of Python
SERVER_S = 240                  # the head gives each client a server of its own, by default in 30
MEMORY = 80 << 20               # bytes, of Ray's object store


class Head:
    """The first machine of a cluster: this one, on ports that are free."""

    def __init__(self):
        self.port, self.client, self.dashboard = free_port(), free_port(), free_port()
        # The path of a socket has few bytes, so the folder is no pytest's.
        self.folder = tempfile.TemporaryDirectory(prefix="ids-ray-")
        self.environment = dict(os.environ, RAY_AUTH_MODE="token",
                                RAY_AUTH_TOKEN=secrets.token_hex(32), HOME=self.folder.name,
                                RAY_CLIENT_SERVER_CHECK_CHANNEL_TIMEOUT_S=str(SERVER_S))
        with open(Path(self.folder.name) / "log", "wb") as log:
            self.process = subprocess.Popen(
                [PROGRAMS / "ray", "start", "--head", "--block", "--disable-usage-stats",
                 f"--port={self.port}", f"--ray-client-server-port={self.client}",
                 "--dashboard-host=127.0.0.1", f"--dashboard-port={self.dashboard}",
                 "--dashboard-agent-listen-port=0", "--num-cpus=2",
                 f"--object-store-memory={MEMORY}", f"--temp-dir={self.folder.name}"],
                env=self.environment, stdout=log, stderr=log, start_new_session=True)
        try:
            for port in (self.client, self.dashboard):
                listening(port, START_TRIES)
        except TimeoutError:
            print((Path(self.folder.name) / "log").read_text())
            self.close()
            raise

    def fleet(self, *words, **environment):
        """`ids-fleet`, as it is installed, with this address."""
        return subprocess.run(
            [PROGRAMS / "ids-fleet", "run", "--address", f"ray://127.0.0.1:{self.client}", *words],
            env={**self.environment, **environment}, capture_output=True, text=True, check=False)

    def state(self, what):
        """What the dashboard says of tasks, actors and so on."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.dashboard}/api/v0/{what}?limit=1000",
            headers={"Authorization": f"Bearer {self.environment['RAY_AUTH_TOKEN']}"})
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)["data"]["result"]["result"]

    def close(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.folder.cleanup()


@pytest.fixture(scope="module")
def head():
    head = Head()
    yield head
    head.close()


def test_a_run_on_a_cluster_by_hand(tmp_path, config, rules, head):
    """The records are those of one engine, and the dashboard names the groups."""
    paths = [write(tmp_path / f"c/{n}.pcap", n) for n in range(4)]
    out = tmp_path / "out"
    done = head.fleet("--captures", str(tmp_path / "c"), "--config", str(config), "--rules",
                      str(rules), "--out", str(out), "--engine", binary(), "--parallel", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.match(r"4 captures in 4 groups, .* in .*/s$", done.stdout.splitlines()[0])
    eve = [str(alone(config, rules, p, tmp_path / f"alone-{i}")) for i, p in enumerate(paths)]
    assert tables.compare(Store(str(out)), eve).equal
    named = {task["name"].split(" +")[0] for task in head.state("tasks")}
    assert named & {str(p) for p in paths}, named


@pytest.mark.long
def test_another_token_is_refused_with_a_reason(tmp_path, config, rules, head):
    write(tmp_path / "c/1.pcap", 1)
    done = head.fleet("--captures", str(tmp_path / "c"), "--config", str(config), "--rules",
                      str(rules), "--out", str(tmp_path / "out"), "--engine", binary(),
                      RAY_AUTH_TOKEN=secrets.token_hex(32))
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("ids-fleet:")]
    assert done.returncode == 2 and "RAY_AUTH_MODE" in line
