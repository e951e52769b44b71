# SPDX-License-Identifier: GPL-2.0-or-later
"""A store that is away, and what else is wrong with the places that a run is given."""

import threading
import time

import pytest
from conftest import alone, fleet, status, write

from ids_fleet import cli, results, tables
from ids_fleet.captures import Capture
from ids_fleet.errors import FleetError, StoreError
from ids_fleet.store import Store
from ids_fleet.worker import Worker
from ids_fleet.worklist import Group, Task


def said(capsys):
    """The one line that a command which failed has said."""
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "ids-fleet:" in line]
    return line


@pytest.fixture
def stored(tmp_path, s3):
    """Captures in the store, and here."""
    paths = [write(tmp_path / f"c/{n}.pcap", n) for n in range(10)]
    fs = Store("s3://bucket").fs
    for path in paths:
        fs.put_file(str(path), f"bucket/in/{path.name}")
    return paths


def test_a_store_that_is_away_at_the_start(tmp_path, config, rules, s3, capsys):
    s3.shut()
    write(tmp_path / "c/1.pcap", 1)
    assert fleet([tmp_path / "c"], "s3://bucket/out", config, rules) == 3
    assert "tried 4 times" in said(capsys)
    assert fleet(["s3://bucket/in"], tmp_path / "out", config, rules) == 3
    assert "tried 4 times" in said(capsys)
    assert cli.main(["status", "s3://bucket/out"]) == 3
    assert "tried 4 times" in said(capsys)


def test_no_credentials(tmp_path, config, rules, s3, monkeypatch, capsys):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    Store("s3://bucket").fs.clear_instance_cache()
    write(tmp_path / "c/1.pcap", 1)
    assert fleet([tmp_path / "c"], "s3://bucket/out", config, rules) == 2
    assert "credentials" in said(capsys)


def test_an_outage_in_a_run_ends_it_and_resume_goes_on(tmp_path, config, rules, s3, stored, capsys):
    """None of the captures has failed: the store was away."""
    place = Store("s3://bucket/out")

    def shut():
        while not list(place.names(results.DONE, ".json")):
            time.sleep(0.02)
        s3.shut()
    killer = threading.Thread(target=shut, daemon=True)
    killer.start()
    assert fleet(["s3://bucket/in"], place.url, config, rules) == 3
    killer.join()
    assert "tried 4 times" in said(capsys)
    s3.lift()
    before = status(place.url, capsys)
    assert 0 < before["captures"] < 10 and before["failed"] == []
    assert fleet(["s3://bucket/in"], place.url, config, rules, "--resume") == 0
    eve = [str(alone(config, rules, p, tmp_path / f"alone-{i}")) for i, p in enumerate(stored)]
    assert tables.compare(place, eve).equal


def test_an_outage_at_the_commit(tmp_path, spec, s3, stored, monkeypatch):
    """A short one costs another try, a long one ends the run, and nothing counts."""
    spec.out = "s3://bucket/out"
    place = Store(spec.out)
    place.write_json(results.RUN, {"epoch": spec.epoch}, str(tmp_path))
    worker = Worker(spec)
    extracted = worker._store_extracted
    pause = [0.0]

    def shut(job):
        s3.shut()
        if pause[0]:
            threading.Timer(pause[0], s3.lift).start()
        return extracted(job)
    monkeypatch.setattr(worker, "_store_extracted", shut)
    tasks = [Task([Group(p.name, [Capture(f"s3://bucket/in/{p.name}", p.stat().st_size, 1)])])
             for p in stored[:2]]
    try:
        with pytest.raises(StoreError, match="tried 4 times"):
            worker.run(tasks[0])
        s3.lift()
        assert list(results.read_done(place)) == []
        pause[0] = 0.4
        assert worker.run(tasks[1]).failed == []
        assert [done.task for done in results.read_done(place)] == [tasks[1].name]
    finally:
        worker.close()


def test_a_missing_capture_fails_alone(spec, s3, stored, tmp_path):
    Store(spec.out).write_json(results.RUN, {"epoch": spec.epoch}, str(tmp_path))
    worker = Worker(spec)
    try:
        done = worker.run(Task([Group(n, [Capture(f"s3://bucket/in/{n}", 1, 1)])
                                for n in ("none.pcap", "1.pcap")]))
    finally:
        worker.close()
    assert [g.key for g in done.failed] == ["none.pcap"]


@pytest.mark.parametrize(("captures", "more", "code", "message"), [
    ("nowhere://x", [], 2, "nowhere"),
    ("c", ["--group-by", "sensor", "--sensor", "("], 2, "--sensor"),
    ("c", ["--group-by", "sensor", "--sensor", "x"], 2, "no group"),
    ("c", ["--names", "["], 2, "--names"),
    ("c", ["--scratch", "/nowhere/at/all"], 2, "/nowhere/at/all"),
    ("c", ["--out", "nowhere://x"], 2, "nowhere"),
    ("c", ["--out", "c/1.pcap/out"], 3, "out"),
    ("c", ["--rules", "none.rules"], 2, "none.rules"),
    ("c", ["--engine-file", "none.deb"], 2, "none.deb"),
    ("@torn.gz", [], 2, "torn.gz"),
])
def test_what_is_given_wrongly_is_said_in_a_line(tmp_path, config, rules, monkeypatch, capsys,
                                                 captures, more, code, message):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "c/1.pcap", 1)
    (tmp_path / "torn.gz").write_bytes(b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x01")
    assert fleet([captures], tmp_path / "out", config, rules, *more) == code
    assert message in said(capsys)


def test_a_file_that_is_no_result_is_said(tmp_path):
    (tmp_path / "_fleet").mkdir()
    (tmp_path / results.RUN).write_text("{")
    with pytest.raises(FleetError, match="Expecting"):
        Store(str(tmp_path)).read_json(results.RUN)
