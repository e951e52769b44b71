# SPDX-License-Identifier: GPL-2.0-or-later
"""What tests share: captures, the engine of IDS_BIN, and a run of it alone."""

import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest

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
