# SPDX-License-Identifier: GPL-2.0-or-later
"""Whole runs on a Ray cluster of this machine."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque

import pytest
import ray
from conftest import alone, binary, fleet, status, write, write_cut
from ray.cluster_utils import Cluster

from ids_fleet import cli, driver, results, tables
from ids_fleet.captures import Capture
from ids_fleet.store import Store
from ids_fleet.worklist import Group, Task

MEMORY = 80 << 20               # of Ray's object store


@pytest.fixture(scope="module")
def cluster():
    """Two nodes with a worker each; a third comes and goes."""
    cluster = Cluster(initialize_head=True, head_node_args={
        "num_cpus": 1, "object_store_memory": MEMORY, "include_dashboard": False})
    cluster.add_node(num_cpus=1, object_store_memory=MEMORY)
    yield cluster
    with contextlib.suppress(Exception):
        ray.shutdown()
    cluster.shutdown()


@pytest.fixture
def address(cluster):
    return ["--address", cluster.address]


def test_a_run_has_the_records_of_one_engine(tmp_path, config, rules, address, capsys):
    paths = [write(tmp_path / f"c/{n}.pcap", n) for n in range(12)]
    out = tmp_path / "out"
    assert fleet([tmp_path / "c"], out, config, rules, *address) == 0
    eve = [str(alone(config, rules, p, tmp_path / f"alone-{i}")) for i, p in enumerate(paths)]
    assert cli.main(["compare", str(out), *eve]) == 0
    assert cli.main(["compare", str(out), *eve[1:]]) == 1
    figures = status(out, capsys)
    assert figures["captures"] == 12 and figures["failed"] == [] and not figures["running"]
    assert cli.main(["query", str(out), "SELECT count(*) AS n FROM alert"]) == 0
    assert str(figures["alerts"]) in capsys.readouterr().out
    assert cli.main(["query", str(out), "SELECT nonsense"]) == 2
    assert fleet([tmp_path / "c"], out, config, rules, *address) == 2       # it has results
    more = tmp_path / "more.rules"
    more.write_text("")
    assert fleet([tmp_path / "c"], out, config, more, *address, "--resume") == 2


def test_folders_and_sensors_are_timelines(tmp_path, config, rules, address):
    for number in range(3):
        write_cut(tmp_path / f"c/s{number}", number)
    for by in ("folder", "sensor"):
        out = tmp_path / by
        assert fleet([tmp_path / "c"], out, config, rules, *address, "--group-by", by) == 0
        eve = [str(alone(config, rules, tmp_path / f"c/s{n}", tmp_path / f"alone-{by}-{n}"))
               for n in range(3)]
        assert cli.main(["compare", str(out), *eve]) == 0


PAIR_RULES = """
alert http any any -> any any (msg:"one path"; http.uri; content:"/x1"; sid:1;)
alert ip any any -> any any (msg:"pair"; threshold:type threshold, track by_both, count 7, \
seconds 60; sid:2;)
"""


def split_equals_whole(tmp_path, config, address, folders, capsys):
    """Groups read whole and in shares have the records of one engine; alerts of rules that count
    across flows are marked, and no others."""
    rules = tmp_path / "pair.rules"
    rules.write_text(PAIR_RULES)
    sizes = [sum(p.stat().st_size for p in folder.iterdir()) for folder in folders]
    eve = [str(alone(config, rules, f, tmp_path / f"alone-{i}")) for i, f in enumerate(folders)]
    split = ["--group-by", "folder", "--split", str(max(sizes) // 3)]
    for more in (split[:2], split):
        out = tmp_path / f"out-{len(more)}"
        assert fleet([tmp_path / "c"], out, config, rules, *address, *more) == 0
        assert cli.main(["compare", str(out), *eve]) == 0
        figures = status(out, capsys)
        assert figures["captures"] == sum(len(list(f.iterdir())) for f in folders)
    assert figures["groups"] > len(folders)
    assert fleet([tmp_path / "c"], out, config, rules, *address, "--resume") == 2
    assert fleet([tmp_path / "c"], out, config, rules, *address, *split, "--resume") == 0
    rules.write_text(PAIR_RULES.replace("by_both", "by_dst"))
    marked = tmp_path / "marked"
    capsys.readouterr()
    assert fleet([tmp_path / "c"], marked, config, rules, *address, *split) == 0
    assert "rules 2: count across flows" in capsys.readouterr().err
    db = tables.connect(Store(str(marked)))
    found = set(db.execute("SELECT alert.signature_id, fleet_group LIKE '% _/_', fleet_partial "
                           "FROM alert").fetchall())
    assert (2, True, True) in found
    assert all(bool(mark) == (sid == 2 and is_share) for sid, is_share, mark in found), found


def test_a_large_group_is_split(tmp_path, config, address, capsys):
    folders = [write_cut(tmp_path / f"c/s{n}", n, flows=12 * (n + 1)) for n in range(2)]
    split_equals_whole(tmp_path, config, address, folders, capsys)


@pytest.mark.long
def test_300_captures_whole_and_split(tmp_path, config, address, capsys):
    """Thirty timelines of ten captures, of different sizes."""
    folders = [write_cut(tmp_path / f"c/s{n}", n, parts=10, flows=6 + 8 * n) for n in range(30)]
    split_equals_whole(tmp_path, config, address, folders, capsys)


def test_failures_are_reported_and_resume_goes_on(tmp_path, config, rules, address, capsys):
    good = [write(tmp_path / f"c/{n}.pcap", n) for n in range(4)]
    junk = tmp_path / "c/junk.pcap"
    junk.write_bytes(b"no capture at all")
    out = tmp_path / "out"
    assert fleet([tmp_path / "c"], out, config, rules, *address) == 1
    assert "neither pcap" in capsys.readouterr().out
    assert [f["group"] for f in status(out, capsys)["failed"]] == [str(junk)]
    junk.write_bytes(good[0].read_bytes())
    write(tmp_path / "c/late.pcap", 9)
    assert fleet([tmp_path / "c"], out, config, rules, *address, "--resume") == 0
    assert "2 captures in 2 groups" in capsys.readouterr().out
    figures = status(out, capsys)
    assert figures["captures"] == 6 and figures["failed"] == []
    names = ["0", "1", "2", "3", "junk", "late"]
    eve = [str(alone(config, rules, tmp_path / f"c/{n}.pcap", tmp_path / f"alone-{n}"))
           for n in names]
    assert cli.main(["compare", str(out), *eve]) == 0


def test_wrong_rules_end_the_run_at_once(tmp_path, config, address, capsys):
    write(tmp_path / "c/1.pcap", 1)
    wrong = tmp_path / "wrong.rules"
    wrong.write_text("nonsense\n")
    assert fleet([tmp_path / "c"], tmp_path / "out", config, wrong, *address,
                 "--engine-arg=--init-errors-fatal") == 2
    assert "did not start" in capsys.readouterr().err


class Killer(threading.Thread):
    """Calls `kill` after each of the given numbers of tasks that are done."""

    def __init__(self, out, at, kill):
        super().__init__(daemon=True)
        self.out, self.at, self.kill, self.killed = out, at, kill, 0
        self.ended = False

    def run(self):
        for count in self.at:
            while not self.ended and len(list(self.out.glob("_fleet/done/*.json"))) < count:
                time.sleep(0.02)
            while not self.ended and not self.kill():
                time.sleep(0.02)
            self.killed += not self.ended


def worker_processes():
    """The actors that are in work: Ray gives their processes the names of their tasks."""
    listed = subprocess.run(["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True,
                            check=True).stdout
    mine = {os.getpid()}
    lines = [line.split(None, 2) for line in listed.splitlines()[1:]]
    for _ in range(6):                      # raylets are children of this process
        mine |= {int(pid) for pid, parent, _ in lines if int(parent) in mine}
    return [int(pid) for pid, _, args in lines if int(pid) in mine and args.startswith("ray::/")]


def faults(tmp_path, config, rules, address, kill, count=24, at=(2, 5)):
    """Runs while something is killed; the results must be those of engines alone."""
    paths = [write(tmp_path / f"c/{n}.pcap", n) for n in range(count)]
    out = tmp_path / "out"
    killer = Killer(out, at, kill)
    killer.start()
    assert fleet([tmp_path / "c"], out, config, rules, *address) == 0
    killer.ended = True
    killer.join()
    assert killer.killed > 0
    eve = [str(alone(config, rules, p, tmp_path / f"alone-{i}")) for i, p in enumerate(paths)]
    result = tables.compare(Store(str(out)), eve)
    assert result.equal, result.examples


def test_killed_workers_lose_and_double_nothing(tmp_path, config, rules, address):
    def kill():
        for pid in worker_processes()[:1]:
            os.kill(pid, signal.SIGKILL)
            return True
        return False
    faults(tmp_path, config, rules, address, kill)


def test_a_killed_node_loses_and_doubles_nothing(tmp_path, config, rules, cluster, address):
    node = cluster.add_node(num_cpus=1, object_store_memory=MEMORY)
    faults(tmp_path, config, rules, [*address, "--parallel", "3"],
           lambda: cluster.remove_node(node, allow_graceful=False) is None, count=10, at=(2,))


@pytest.mark.long
def test_killed_nodes_lose_and_double_nothing(tmp_path, config, rules, cluster, address):
    """None of them is replaced: what they had goes to those that are left."""
    nodes = [cluster.add_node(num_cpus=1, object_store_memory=MEMORY) for _ in range(2)]
    faults(tmp_path, config, rules, [*address, "--parallel", "4"],
           lambda: cluster.remove_node(nodes.pop(), allow_graceful=False) is None)


def test_a_task_that_was_committed_is_not_done_again(tmp_path):
    """Its worker was killed after the commit and before the answer, the second time in a row."""
    store = Store(str(tmp_path))
    store.write_json(results.RUN, {"epoch": "e"}, str(tmp_path))
    task = Task([Group(k, [Capture(k, 1, 1)]) for k in "ab"], strikes=driver.STRIKES - 1)
    later = Task([Group("c", [Capture("c", 1, 1)])])
    seen = []
    fleet = driver.Driver.__new__(driver.Driver)
    fleet.store, fleet.summary, fleet.progress = store, driver.Summary(), seen.append
    fleet.again, fleet._slot = deque(), lambda: None
    fleet.slots = [driver.Slot(None, None, True, deque([(None, later)]))]
    results.commit(store, results.Done(task.name, [results.GroupState(k, 1, 1) for k in "ab"]),
                   "e", str(tmp_path))
    fleet._lost(0, task)
    assert list(fleet.again) == [later] and fleet.summary.groups == 2 and len(seen) == 1
    fleet.slots = [driver.Slot(None, None, True)]
    fleet.again.clear()
    fleet._lost(0, Task([Group(k, [Capture(k, 1, 1)]) for k in "de"], driver.STRIKES - 1))
    assert [g.key for t in fleet.again for g in t.groups] == ["d", "e"]


def test_tasks_that_may_have_ended_a_worker_run_alone(tmp_path):
    """Two were in work, and only one of them can be why."""
    store = Store(str(tmp_path))
    tasks = [Task([Group(k, [Capture(k, 1, 1)])]) for k in "abcd"]
    fleet = driver.Driver.__new__(driver.Driver)
    fleet.store, fleet.summary = store, driver.Summary()
    fleet.again, fleet._slot = deque(), lambda: None
    fleet.slots = [driver.Slot(None, None, True, deque((None, t) for t in tasks[1:3]))]
    fleet._lost(0, tasks[0])
    assert [(t.groups[0].key, t.strikes) for t in fleet.again] == [("a", 1), ("b", 1), ("c", 0)]
    left = iter(tasks[3:])
    assert fleet._next(left, is_busy=True) is tasks[2]
    assert fleet._next(left, is_busy=True) is tasks[3]
    assert fleet._next(left, is_busy=True) is None
    given = []

    class Actor:
        class run:
            @staticmethod
            def options(name):
                return Actor.run

            @staticmethod
            def remote(task):
                given.append(task)
    fleet.slots = [driver.Slot(Actor, None, True)]
    fleet._fill(left)
    assert given == [tasks[0]] and list(fleet.again) == [tasks[1]]


@pytest.mark.long
def test_a_capture_that_ends_its_worker_is_given_up(tmp_path, config, rules, address, capsys):
    """The worker dies as soon as its engine has begun to read the capture that never ends."""
    paths = [write(tmp_path / f"c/{n}.pcap", n) for n in range(3)]
    manifest = tmp_path / "list"
    stuck = tmp_path / "stuck.pcap"
    os.mkfifo(stuck)
    manifest.write_text("".join(f"{p}\t\t100\t1\n" for p in [*paths, stuck]))
    end = threading.Event()

    def kill():
        """A worker that is busy with the capture has its own copy of the name in its log."""
        seen = set()
        while not end.wait(0.05):
            for log in tmp_path.glob("ids-fleet-worker-*/engine-*/engine.log"):
                with contextlib.suppress(OSError, ProcessLookupError):
                    if log not in seen and f"run for '{stuck}'" in log.read_text():
                        seen.add(log)
                        for pid in holders(log):
                            os.kill(pid, signal.SIGKILL)

    def holders(log):
        return [pid for pid in worker_processes()
                if any(os.path.realpath(f"/proc/{pid}/fd/{fd}") == str(log)
                       for fd in os.listdir(f"/proc/{pid}/fd"))]
    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    code = fleet([f"@{manifest}"], tmp_path / "out", config, rules, *address, "--scratch",
                 str(tmp_path))
    end.set()
    killer.join()
    assert code == 1
    figures = status(tmp_path / "out", capsys)
    assert figures["captures"] == 3
    assert [f["group"] for f in figures["failed"]] == [str(stuck)]
    assert "twice" in figures["failed"][0]["error"]


@pytest.mark.long
def test_resume_after_the_driver_died(tmp_path, config, rules):
    paths = [write(tmp_path / f"c/{n}.pcap", n) for n in range(24)]
    out = tmp_path / "out"
    command = [sys.executable, "-m", "ids_fleet", "run", "--captures", str(tmp_path / "c"),
               "--config", str(config), "--rules", str(rules), "--out", str(out), "--engine",
               binary(), "--parallel", "2"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          start_new_session=True) as first:
        end = time.monotonic() + 120
        while len(list(out.glob("_fleet/done/*.json"))) < 2 and first.poll() is None:
            assert time.monotonic() < end
            time.sleep(0.02)
        os.killpg(first.pid, signal.SIGKILL)
    left = out / "events/event_type=dns/date=2023-11-14/lost.parquet"
    left.write_bytes(b"half")
    subprocess.run([*command, "--resume"], check=True, timeout=200)
    assert not left.exists()
    eve = [str(alone(config, rules, p, tmp_path / f"alone-{i}")) for i, p in enumerate(paths)]
    assert tables.compare(Store(str(out)), eve).equal


def test_captures_and_results_in_an_object_store(tmp_path, config, rules, s3, capsys):
    store = Store("s3://bucket").fs
    paths = [write(tmp_path / f"c/{n}.pcap", n) for n in range(4)]
    for n, path in enumerate(paths):
        store.put_file(str(path), f"bucket/in/s{n % 2}/{n}.pcap")
    named = tmp_path / "named.yaml"
    named.write_text(config.read_text().replace("pcap-file: false", "pcap-file: true"))
    assert "pcap-file: true" in named.read_text()
    assert fleet(["s3://bucket/in"], "s3://bucket/out", named, rules) == 0
    figures = status("s3://bucket/out", capsys)
    assert figures["captures"] == 4
    assert cli.main(["query", "s3://bucket/out",
                     "SELECT pcap_filename FROM dns ORDER BY 1 LIMIT 1"]) == 0
    assert "s3://bucket/in/s0/0.pcap" in capsys.readouterr().out
    db = tables.connect(Store("s3://bucket/out"))
    assert db.execute("SELECT count(*) FROM alert").fetchone() == (figures["alerts"],)


def test_no_cluster_is_a_mistake_that_is_said(tmp_path, config, rules, capsys):
    write(tmp_path / "c/1.pcap", 1)
    assert fleet([tmp_path / "c"], tmp_path / "out", config, rules, "--address",
                 "127.0.0.1:1") == 2
    assert "no Ray cluster" in capsys.readouterr().err
