# SPDX-License-Identifier: GPL-2.0-or-later
"""What tests share: captures, the engine of IDS_BIN, and a run of it alone."""

import contextlib
import json
import os
import socket
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from ids_fleet import cli
from ids_fleet.worker import Spec

TOP = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(TOP / "qa"))
import pcapgen  # noqa: E402

RULES = """
alert http any any -> any any (msg:"one path"; http.uri; content:"/x1"; sid:1;)
alert tcp any any -> any 80 (msg:"many"; flags:S; threshold:type both, track by_dst, count 4, \
seconds 60; sid:2;)
alert dns any any -> any any (msg:"name"; dns.query; content:"b1."; sid:3;)
"""



def fleet(captures, out, config, rules, *more):
    """Runs `ids-fleet run` with two workers. Its status."""
    engine = [] if any(word.startswith("--engine-") for word in more) else ["--engine", binary()]
    return cli.main(["run", "--captures", *map(str, captures), "--config", str(config), "--rules",
                     str(rules), "--out", str(out), *engine, "--parallel", "2", *more])


def status(out, capsys):
    """What `ids-fleet status` says."""
    capsys.readouterr()
    assert cli.main(["status", str(out)]) == 0
    return json.loads(capsys.readouterr().out)


def binary():
    return os.path.abspath(os.environ.get("IDS_BIN", TOP / "build-release" / "src" / "ids"))


def traffic(number, flows=4):
    """HTTP and DNS; other flows for each number. The flows overlap."""
    capture = pcapgen.Capture()
    capture.wait(number * 60)
    opened = []
    for i in range(flows):
        client, port = f"10.{number >> 8}.{number & 255}.{i + 1}", 40000 + i
        flow = pcapgen.TcpFlow(capture, client, port, "192.0.2.80", 80)
        flow.open()
        flow.to_server(pcapgen.http_request(f"a{i}.example", f"/x{i}/{number}"))
        capture.udp(client, port, "192.0.2.53", 53, pcapgen.dns_query(i, f"b{i}.example"))
        opened.append(flow)
    for flow in opened:
        flow.to_client(pcapgen.http_response(b"hello"))
        flow.close()
    return capture


def write(path, number, flows=4):
    path.parent.mkdir(parents=True, exist_ok=True)
    traffic(number, flows).write(str(path))
    return path


def write_cut(folder, number, parts=3, flows=6):
    """One capture, cut into files in the order of their times of change."""
    whole = folder.parent / f"{folder.name}.whole"
    write(whole, number, flows)
    data = whole.read_bytes()
    whole.unlink()
    folder.mkdir(parents=True)
    frames, at = [], 24
    while at < len(data):
        length = 16 + struct.unpack("<I", data[at + 8:at + 12])[0]
        frames.append(data[at:at + length])
        at += length
    each = -(-len(frames) // parts)
    for part in range(parts):
        # Names are against the order of time, so that a test sees which of the two counts.
        path = folder / f"{parts - part}.pcap"
        path.write_bytes(data[:24] + b"".join(frames[part * each:(part + 1) * each]))
        os.utime(path, (1000 + part, 1000 + part))
    return folder


def alone(config, rules, source, folder):
    """The EVE file of the engine that reads one file or folder by itself."""
    folder.mkdir(parents=True)
    subprocess.run([binary(), "-c", str(config), "-S", str(rules), "--deterministic", "-l",
                    str(folder), "--runmode", "single", "-r", str(source)], check=True,
                   capture_output=True, env=dict(os.environ, TZ="UTC"), timeout=120)
    return folder / "eve.json"


@pytest.fixture(scope="session")
def config():
    return TOP / "suricata.yaml"


@pytest.fixture(scope="session")
def rules(tmp_path_factory):
    path = tmp_path_factory.mktemp("rules") / "test.rules"
    path.write_text(RULES)
    return path


@pytest.fixture
def spec(tmp_path, config, rules):
    return Spec(out=str(tmp_path / "out"), epoch="e", binary=binary(),
                config=config.read_bytes(), rules=rules.read_bytes(),
                files={"classification.config":
                       (TOP / "rules" / "classification.config").read_bytes()},
                scratch=str(tmp_path))


def listening(port, tries=300):
    """Waits until something listens on a port of the loopback address."""
    for _ in range(tries):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
        time.sleep(0.1)
    raise TimeoutError(f"nothing listens on port {port}")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Gate:
    """A port that leads to a server. While it is shut, connections end and none is made."""

    def __init__(self, server):
        self.server, self.port, self.open = server, free_port(), []
        self.listener = None
        self.lift()

    def lift(self):
        self.listener = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self._accept, args=(self.listener,), daemon=True).start()

    def shut(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        while self.open:
            with contextlib.suppress(OSError):
                self.open.pop().shutdown(socket.SHUT_RDWR)

    def _accept(self, listener):
        with contextlib.suppress(OSError):
            while True:
                near = listener.accept()[0]
                far = socket.create_connection(("127.0.0.1", self.server))
                self.open += [near, far]
                for pair in ((near, far), (far, near)):
                    threading.Thread(target=self._copy, args=pair, daemon=True).start()

    @staticmethod
    def _copy(source, target):
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                target.sendall(data)
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def s3(monkeypatch):
    """A server that speaks S3, from moto, with a bucket; the gate that leads to it."""
    s3fs = pytest.importorskip("s3fs")
    port = free_port()
    server = subprocess.Popen([sys.executable, "-m", "moto.server", "-p", str(port)],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    listening(port)
    gate = Gate(port)
    for name, value in (("AWS_ACCESS_KEY_ID", "x"), ("AWS_SECRET_ACCESS_KEY", "x"),
                        ("AWS_ENDPOINT_URL", f"http://127.0.0.1:{gate.port}"),
                        ("AWS_DEFAULT_REGION", "us-east-1"), ("AWS_MAX_ATTEMPTS", "1"),
                        ("AWS_EC2_METADATA_DISABLED", "true"), ("AWS_CONFIG_FILE", "/dev/null"),
                        ("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")):
        monkeypatch.setenv(name, value)
    s3fs.S3FileSystem.clear_instance_cache()        # it knows no endpoint of the environment
    s3fs.S3FileSystem().mkdir("bucket")
    yield gate
    server.kill()
    server.wait()
    s3fs.S3FileSystem.clear_instance_cache()
