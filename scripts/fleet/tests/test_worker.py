# SPDX-License-Identifier: GPL-2.0-or-later
import dataclasses
import hashlib
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import fsspec
import pytest
from conftest import alone, pcapgen, write, write_cut
from fsspec.implementations.local import LocalFileSystem

from ids_fleet import engine, results, store, tables
from ids_fleet.captures import Capture, find
from ids_fleet.engine import Run
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


def test_the_engine_reads_while_another_is_converted(worker, spec, tmp_path, monkeypatch):
    """The first task is held in conversion until the second has been read."""
    paths = [write(tmp_path / f"c/{n}.pcap", n) for n in range(4)]
    is_read, convert, order = threading.Event(), worker.converter.convert, []
    tasks = [task_of(*paths[:2]), task_of(*paths[2:])]

    def read_all(job, read_all=worker._read_all):
        read_all(job)
        order.append(job.task.name)
        if len(order) == 2:
            is_read.set()

    def held(sources, name):
        assert is_read.wait(60)
        return convert(sources, name)
    monkeypatch.setattr(worker, "_read_all", read_all)
    monkeypatch.setattr(worker.converter, "convert", held)
    started = time.time()
    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(worker.run, tasks))
    assert [d.failed for d in done] == [[], []]
    assert 0 < sum(d.seconds for d in done) <= time.time() - started
    stored = tables.connect(Store(spec.out)).execute("SELECT count(*) FROM events").fetchone()
    assert stored == (sum(g.records for d in done for g in d.groups),)


def test_captures_of_a_task_append_to_one_file(worker, spec, tmp_path, config, rules, monkeypatch):
    """Each has its lines of it, and those of one that failed in their midst count for nobody."""
    paths = [write(tmp_path / f"c/{n}.pcap", n) for n in range(3)]
    broken = write(tmp_path / "c/broken.pcap", 3)
    sources, convert = [], worker.converter.convert
    monkeypatch.setattr("ids_fleet.worker.describe", lambda outcome, staged: (
        "broken" if staged.source == str(broken) else outcome.error, outcome.warnings))

    def noted(given, name):
        sources.extend(given)
        return convert(given, name)
    monkeypatch.setattr(worker.converter, "convert", noted)
    done = worker.run(task_of(paths[0], broken, *paths[1:]))
    assert [g.key for g in done.failed] == [str(broken)] and len(sources) == 3
    assert len({source.path for source in sources}) == 1
    assert sources[0].end < sources[1].start and sources[1].end == sources[2].start
    eve = [str(alone(config, rules, p, tmp_path / f"alone-{i}")) for i, p in enumerate(paths)]
    assert tables.compare(Store(spec.out), eve).equal
    lines = tables.connect(Store(spec.out)).execute(
        "SELECT min(fleet_line), max(fleet_line) - count(*) FROM events GROUP BY fleet_group")
    assert lines.fetchall() == [(1, 0)] * 3
    assert not [f for f in os.listdir(worker.scratch) if f.startswith("task-")]


def test_an_engine_that_does_not_say_where_records_are(worker, tmp_path, monkeypatch):
    """One of an older version: no record must get lost without a word."""
    monkeypatch.setattr(engine, "ENDED", re.compile("nothing"))
    done = worker.run(task_of(write(tmp_path / "c/1.pcap", 1)))
    assert "too old" in done.failed[0].error and done.files == []


@pytest.mark.parametrize("eve", ["filename: eve-%Y.json", "append: no", "threaded: yes"])
def test_eve_files_are_found_whatever_is_configured(spec, tmp_path, config, rules, eve):
    text = config.read_text()
    key = eve.split(":")[0]
    changed = re.sub(rf"(\n  - eve-log:\n(?:      .*\n)*?)      {key}:.*\n", r"\1", text)
    changed = changed.replace("\n  - eve-log:\n", f"\n  - eve-log:\n      {eve}\n", 1)
    assert changed != text
    Store(spec.out).write_json(results.RUN, {"epoch": spec.epoch}, str(tmp_path))
    worker = Worker(dataclasses.replace(spec, config=changed.encode()))
    paths = [write(tmp_path / f"c/{n}.pcap", n) for n in range(3)]
    done = worker.run(task_of(*paths))
    worker.close()
    eve = [str(alone(config, rules, p, tmp_path / f"alone-{i}")) for i, p in enumerate(paths)]
    assert done.failed == [] and tables.compare(Store(spec.out), eve).equal


def test_a_capture_that_the_engine_refuses_has_failed(worker, tmp_path):
    """It is never begun, so it must not be taken for one that was."""
    good = [write(tmp_path / f"c/{n}.pcap", n) for n in range(2)]
    junk = tmp_path / "c/junk.pcap"
    junk.write_bytes(b"no capture at all")
    run = Run(worker.engine)
    for path in (tmp_path / "none", good[0], tmp_path / "none", junk, good[1]):
        run.add(str(path), str(tmp_path))
    run.wait(0)
    errors = [outcome.error for outcome in run.outcomes]
    assert errors[0] == errors[2] == "filename does not exist"
    assert errors[1] == errors[4] == "" and "neither pcap" in errors[3]
    assert run.current == 4


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


FULL = """
import os, pickle, subprocess, sys
from ids_fleet import errors, results, worker
from ids_fleet.store import Store
with open(sys.argv[1], "rb") as f:
    spec, task, small = pickle.load(f)
if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "small", small]).returncode:
    sys.exit(77)
Store(spec.out).write_json(results.RUN, {"epoch": spec.epoch}, "/tmp")
at_work = worker.Worker(spec)
with open(os.path.join(small, "more"), "wb", buffering=0) as f:
    try:
        while f.write(b"x" * 4096):
            pass
    except OSError:
        pass
try:
    at_work.run(task)
except errors.StoreError as e:
    print("full:", e)
print("done:", list(Store(spec.out).names(results.DONE)))
os.unlink(os.path.join(small, "more"))
print("then:", [g.error for g in at_work.run(task).groups])
at_work.close()
"""


@pytest.mark.parametrize("full", ["out", "scratch"])
def test_a_full_disk(spec, tmp_path, full):
    """That of the results, and that of the worker; then somebody makes room."""
    for folder in ("out", "scratch"):
        (tmp_path / folder).mkdir()
    spec = dataclasses.replace(spec, scratch=str(tmp_path / "scratch"))
    task = task_of(*[write(tmp_path / f"c/{n}.pcap", n) for n in range(3)])
    arguments = tmp_path / "arguments"      # with the configuration, too long for a command line
    arguments.write_bytes(pickle.dumps((spec, task, str(tmp_path / full))))
    done = subprocess.run(["unshare", "-rm", sys.executable, "-c", FULL, str(arguments)],
                          capture_output=True, text=True, check=False)
    if done.returncode == 77 or done.stderr.startswith("unshare: "):
        pytest.skip("no mount namespaces here")
    assert done.stdout.splitlines()[1:] == ["done: []", "then: ['', '', '']"], done
    assert "full: " in done.stdout and "No space left" in done.stdout, done


class Slow(LocalFileSystem):
    """A store that takes its time, and gives up every third call."""

    protocol = "slow"
    calls = 0

    @classmethod
    def _strip_protocol(cls, path):
        return super()._strip_protocol(path.removeprefix("slow://"))

    def _slow(self):
        Slow.calls += 1
        time.sleep(0.01)
        if Slow.calls % 3 == 0:
            raise TimeoutError("slow")

    def put_file(self, *args, **kwargs):
        self._slow()
        return super().put_file(*args, **kwargs)

    def get_file(self, *args, **kwargs):
        self._slow()
        return super().get_file(*args, **kwargs)

    def cat_file(self, *args, **kwargs):
        self._slow()
        return super().cat_file(*args, **kwargs)


def test_a_slow_store_has_all_records(spec, tmp_path, config, rules, monkeypatch):
    fsspec.register_implementation("slow", Slow, clobber=True)
    monkeypatch.setattr(store, "FIRST_WAIT_S", 0.001)
    paths = [write(tmp_path / f"c/{n}.pcap", n) for n in range(4)]
    spec = dataclasses.replace(spec, out=f"slow://{tmp_path}/out")
    Store(spec.out).write_json(results.RUN, {"epoch": spec.epoch}, str(tmp_path))
    worker = Worker(spec)
    done = worker.run(Task([Group(str(p), list(find([f"slow://{p}"]))) for p in paths]))
    worker.close()
    assert done.failed == [] and Slow.calls > 10
    eve = [str(alone(config, rules, p, tmp_path / f"alone-{i}")) for i, p in enumerate(paths)]
    assert tables.compare(Store(str(tmp_path / "out")), eve).equal


def test_wrong_rules_or_configuration_say_so(spec):
    with pytest.raises(EngineError, match="eve-log"):
        Worker(dataclasses.replace(spec, config=b"%YAML 1.1\n---\noutputs:\n"))
    with pytest.raises(EngineError, match="did not start"):
        Worker(dataclasses.replace(spec, arguments=["--init-errors-fatal"], rules=b"nonsense\n"))


@pytest.mark.parametrize("outputs", [
    "[console: {enabled: no, type: json, level: error, format: x}, file: {filename: a}]",
    "[file: {filename: a}]"])
def test_the_log_is_read_whatever_is_configured(spec, tmp_path, config, outputs):
    """Without it nobody knows which capture the engine has."""
    text = re.sub(r"\nlogging:.*?\n(?=[a-z])", "\nlogging:\n  default-log-level: error\n"
                  "  default-log-format: x\n  default-output-filter: nothing\n"
                  f"  outputs: {outputs}\n", config.read_text(), flags=re.DOTALL)
    assert text != config.read_text()
    worker = Worker(dataclasses.replace(spec, config=text.encode()))
    run = Run(worker.engine)
    run.add(str(write(tmp_path / "c/1.pcap", 1)), str(tmp_path))
    run.add(str(tmp_path / "c"), str(tmp_path))
    (tmp_path / "c/2.pcap").write_bytes(b"no capture at all")
    run.wait(0)
    files = os.listdir(worker.engine.folder)
    worker.close()
    assert run.begun == 2 and "neither pcap" in run.outcomes[1].warnings[0]
    assert "a" not in files


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


def test_an_extracted_file_is_stored_once(spec, tmp_path):
    """By its hash, over captures of one task and of several."""
    whole = spec.config.decode()
    stores = whole.replace("version: 2\n      enabled: no", "version: 2\n      enabled: yes\n"
                           "      force-filestore: yes")
    assert stores != whole
    spec.config = stores.encode()
    paths = [write(tmp_path / f"c/{n}.pcap", n) for n in range(3)]
    other = pcapgen.Capture()
    flow = pcapgen.TcpFlow(other, "10.9.9.9", 40000, "192.0.2.80", 80)
    flow.open()
    flow.to_server(pcapgen.http_request("a.example", "/other"))
    flow.to_client(pcapgen.http_response(b"something else"))
    flow.close()
    other.write(str(tmp_path / "c/other.pcap"))
    groups = [Group(str(p), [Capture(str(p), p.stat().st_size, 1)])
              for p in [*paths, tmp_path / "c/other.pcap"]]
    place = Store(spec.out)
    place.write_json(results.RUN, {"epoch": spec.epoch}, str(tmp_path))
    worker = Worker(spec)
    try:
        new = [worker.run(Task(groups[:2])).extracted, worker.run(Task(groups[2:])).extracted]
    finally:
        worker.close()
    assert new == [1, 1]
    expected = {hashlib.sha256(body).hexdigest(): body for body in (b"hello", b"something else")}
    assert {name.rsplit("/", 1)[1]: (tmp_path / "out" / name).read_bytes()
            for name in place.names("files")} == expected
    assert set(place.names("files")) == {f"files/{name[:2]}/{name}" for name in expected}


def test_memory_limits_the_engine(spec):
    spec.memory = 96 << 20
    worker = Worker(spec)
    try:
        (answer,) = worker.engine.send({"command": "conf-get",
                                        "arguments": {"variable": "global-memcap"}})
        assert answer["message"] == str(96 << 20)
    finally:
        worker.close()
