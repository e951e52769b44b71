# SPDX-License-Identifier: GPL-2.0-or-later
import dataclasses
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import pytest
from conftest import alone, write, write_cut

from ids_fleet import results, tables
from ids_fleet.captures import Capture, find
from ids_fleet.errors import EngineError, StoreError
from ids_fleet.store import Store
from ids_fleet.worker import Worker
from ids_fleet.worklist import Group, Task


def task_of(*paths):
    return Task([Group(str(p), list(find([str(p)]))) for p in paths])


@pytest.fixture
def worker(spec, tmp_path):
    Store(spec.out).write_json(results.RUN, {"epoch": spec.epoch}, str(tmp_path))
    worker = Worker(spec)
    yield worker
    worker.close()


def test_captures_have_the_records_they_have_alone(worker, spec, tmp_path, config, rules):
    paths = [write(tmp_path / f"c/{n}.pcap", n) for n in range(5)]
    done = worker.run(task_of(*paths))
    assert done.failed == [] and all(g.records > 0 and g.alerts > 0 for g in done.groups)
    assert worker.engines == 1
    eve = [str(alone(config, rules, p, tmp_path / f"alone-{i}")) for i, p in enumerate(paths)]
    result = tables.compare(Store(spec.out), eve)
    assert result.equal and result.same == sum(g.records for g in done.groups)


def test_compare_says_what_differs(worker, spec, tmp_path, config, rules):
    paths = [write(tmp_path / f"c/{n}.pcap", n) for n in range(2)]
    worker.run(task_of(*paths))
    eve = alone(config, rules, paths[0], tmp_path / "alone")
    result = tables.compare(Store(spec.out), [str(eve)])
    assert not result.equal and result.only_fleet and not result.only_engine
    result = tables.compare(Store(spec.out), [str(eve)] * 2)
    assert result.only_engine
    changed = eve.read_text().replace("b1.example", "b9.example")
    eve.write_text(changed)
    result = tables.compare(Store(spec.out), [str(eve)])
    assert result.only_engine["dns"] == 1 and result.examples


@pytest.mark.parametrize("order", ["time", "name"])
def test_a_group_is_one_capture_that_was_cut(spec, tmp_path, config, rules, order):
    folder = write_cut(tmp_path / "cut", 1)
    Store(spec.out).write_json(results.RUN, {"epoch": spec.epoch}, str(tmp_path))
    spec = dataclasses.replace(spec, order=order)
    worker = Worker(spec)
    key = (lambda c: (c.changed, c.url)) if order == "time" else (lambda c: c.url)
    captures = sorted(find([str(folder)]), key=key)
    done = worker.run(Task([Group("cut", captures)]))
    worker.close()
    if order == "name":                     # what the engine reads by time of change
        for number, capture in enumerate(captures):
            os.utime(capture.url, (number + 1, number + 1))
    eve = alone(config, rules, folder, tmp_path / "alone")
    assert tables.compare(Store(spec.out), [str(eve)]).equal
    assert done.groups[0].captures == 3
    pieces = [str(alone(config, rules, c.url, tmp_path / f"piece-{i}"))
              for i, c in enumerate(captures)]
    assert not tables.compare(Store(spec.out), pieces).equal


def test_a_poisoned_capture_is_reported_and_the_rest_goes_on(worker, tmp_path):
    good = [write(tmp_path / f"c/{n}.pcap", n) for n in range(3)]
    junk, cut = tmp_path / "c/junk.pcap", tmp_path / "c/cut.pcap"
    junk.write_bytes(os.urandom(3000))
    cut.write_bytes(good[0].read_bytes()[:-10])
    task = task_of(good[0], junk, good[1], cut, good[2])
    task.groups.append(Group("gone", [Capture(str(tmp_path / "gone.pcap"), 1, 1)]))
    done = worker.run(task)
    by_key = {g.key: g for g in done.groups}
    assert {g.key for g in done.failed} == {str(junk), "gone"}
    assert "neither pcap" in by_key[str(junk)].error and by_key[str(junk)].tries == 2
    assert "No such file" in by_key["gone"].error
    assert "cut short" in by_key[str(cut)].warnings[0] and by_key[str(cut)].records > 0
    assert all(by_key[str(p)].records > 0 and by_key[str(p)].tries == 1 for p in good)


def test_a_capture_that_takes_too_long_is_given_up(spec, tmp_path):
    Store(spec.out).write_json(results.RUN, {"epoch": spec.epoch}, str(tmp_path))
    worker = Worker(dataclasses.replace(spec, limit_s=1.0))
    good = [write(tmp_path / f"c/{n}.pcap", n) for n in range(2)]
    stuck = tmp_path / "c/stuck.pcap"
    os.mkfifo(stuck)
    task = task_of(good[0])
    task.groups += [Group("stuck", [Capture(str(stuck), 1, 1)]), *task_of(good[1]).groups]
    done = worker.run(task)
    worker.close()
    assert [(g.key, g.tries) for g in done.failed] == [("stuck", 2)]
    assert "more than 1 s" in done.failed[0].error
    assert all(g.records > 0 for g in done.groups if not g.error)
    assert worker.engines == 3


def test_an_engine_that_is_killed_costs_what_it_had(worker, tmp_path):
    stuck = tmp_path / "stuck.pcap"
    os.mkfifo(stuck)
    good = [write(tmp_path / f"c/{n}.pcap", n) for n in range(2)]
    task = task_of(good[0])
    task.groups += [Group("stuck", [Capture(str(stuck), 1, 1)]), *task_of(good[1]).groups]

    def kill():
        """Ends each engine that has begun to read the capture that never ends."""
        for number in (1, 2):
            log = os.path.join(worker.scratch, f"engine-{number}", "engine.log")
            while not (os.path.exists(log) and "run for '" + str(stuck) in open(log).read()):
                time.sleep(0.05)
            os.kill(worker.engine.process.pid, signal.SIGKILL)
    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    done = worker.run(task)
    killer.join()
    assert [(g.key, g.error) for g in done.failed] == [("stuck", "the engine ended with SIGKILL")]
    assert [g.records > 0 for g in done.groups] == [True, False, True]


def test_folders_of_killed_workers_are_removed(worker, spec, tmp_path):
    old = tmp_path / "ids-fleet-worker-old"
    old.mkdir()
    (old / "lock").touch()
    other = Worker(spec)
    assert not old.exists() and os.path.exists(worker.scratch) and os.path.exists(other.scratch)
    other.close()
    assert not os.path.exists(other.scratch)


def test_an_engine_ends_with_its_worker(spec):
    code = ("import os, pickle, sys\nfrom ids_fleet.worker import Worker\n"
            "w = Worker(pickle.loads(bytes.fromhex(sys.argv[1])))\n"
            "print(w.engine.process.pid, flush=True)\nos.kill(os.getpid(), 9)\n")
    done = subprocess.run([sys.executable, "-c", code, pickle.dumps(spec).hex()],
                          capture_output=True, text=True, check=False)
    status = f"/proc/{int(done.stdout)}/status"
    end = time.monotonic() + 30
    while os.path.exists(status) and "Z (zombie)" not in open(status).read():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_full_disk_of_results_ends_the_task(worker, tmp_path, monkeypatch):
    def full(self, local, name):
        raise StoreError("out: No space left on device")
    monkeypatch.setattr(Store, "put", full)
    with pytest.raises(StoreError):
        worker.run(task_of(write(tmp_path / "c/1.pcap", 1)))
    assert os.listdir(worker.scratch + "/records") == []


def test_wrong_rules_or_configuration_say_so(spec):
    with pytest.raises(EngineError, match="eve-log"):
        Worker(dataclasses.replace(spec, config=b"%YAML 1.1\n---\noutputs:\n"))
    with pytest.raises(EngineError, match="did not start"):
        Worker(dataclasses.replace(spec, arguments=["--init-errors-fatal"], rules=b"nonsense\n"))


def test_workers_share_the_cpus(spec, tmp_path):
    """Each has one, with its engine; where none is left a worker has all."""
    mine = os.sched_getaffinity(0)
    code = ("import os, sys, time\nfrom ids_fleet.worker import one_cpu\n"
            "claim = one_cpu(sys.argv[1])\nprint(claim is not None, os.sched_getaffinity(0), "
            "flush=True)\nsys.stdin.read()\n")
    held = []
    for _ in range(len(mine) + 1):
        child = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], text=True,
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        held.append((child, child.stdout.readline().strip()))
    for child, _ in held:
        child.communicate("")
    assert sorted(text for _, text in held) == sorted(
        [f"True {set([cpu])}" for cpu in mine] + [f"False {mine}"])
