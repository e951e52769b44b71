# SPDX-License-Identifier: GPL-2.0-or-later
"""What people see of a run, and what the driver keeps of it."""

import io
import json
import tracemalloc
from collections import deque

import pytest
from tqdm import tqdm

from ids_fleet import cli, driver, report, results, worklist
from ids_fleet.captures import Capture
from ids_fleet.store import Store
from ids_fleet.worker import Spec
from ids_fleet.worklist import Totals, Worklist, group_key

ENTRIES = (1000, 20000)
AT_ONCE = 64                    # groups of a task


def done(name, worker, seconds, error=""):
    """A task of a megabyte."""
    return results.Done(name, [results.GroupState(name, 2, 1_000_000, records=10, alerts=3,
                                                  error=error, warnings=["Warning: x"])],
                        extracted=4, seconds=seconds, engine_cpu=1.5, other_cpu=0.5, worker=worker)


@pytest.fixture
def summary():
    summary = driver.Summary()
    summary.add(done("quick", "a:1", 1.0), "quick")
    summary.add(done("slow", "b:2", 3.0), "slow")
    summary.add(done("bad", "b:2", 1.0, "no capture"), "bad")
    summary.seconds = 2.0
    return summary


def test_the_summary_has_throughput_skew_and_cost(summary):
    assert report.summary_lines(summary) == [
        "6 captures in 3 groups, 3 MB in 2.0 s: 1.5 MB/s",
        "30 records, 9 alerts, 12 new files, 1 groups failed, 3 with warnings, 0 workers lost",
        "CPU: 4.5 s engine, 1.5 s conversion, 555.6 CPU hours a terabyte",
        "workers: 2, busy 1.0 s to 4.0 s, skew 1.60",
        "  b:2: 2 MB, 500 kB/s", "  a:1: 1 MB, 1 MB/s",
        "slowest: 3.0 s slow", "slowest: 1.0 s quick", "slowest: 1.0 s bad",
        "failed: bad: no capture"]


def test_many_failures_are_counted(summary):
    lines = report.failed_lines(summary.failed * 30)
    assert len(lines) == report.FAILED_SHOWN + 1 and "10 more" in lines[-1]


def test_the_bar_and_the_figures_of_status(tmp_path, summary, monkeypatch):
    shown = io.StringIO()
    monkeypatch.setattr(report, "tqdm", lambda **more: tqdm(
        **{**more, "disable": False, "file": shown, "ncols": 150}))
    store = Store(str(tmp_path))
    store.write_json(results.RUN, {"epoch": "e"}, str(tmp_path))
    progress = report.Progress(Totals(6, 12, 6_000_000), store, str(tmp_path))
    progress(summary)
    progress.bar.refresh()
    assert "50%" in shown.getvalue() and "6/12 captures, 9 alerts, 1 failed" in shown.getvalue()
    progress.close()
    figures = report.status(store)
    assert figures["running"] and figures["groups_left"] == 3
    assert (figures["bytes_per_s"], figures["seconds_left"]) == (1_500_000, 2)
    progress.write(summary, running=False)
    assert not report.status(store)["running"]


def test_memory_is_told_to_ray_and_half_of_it_is_the_engine_s(tmp_path, monkeypatch):
    given = []

    def execute(args, spec, *_):
        given.append((cli.worker_options(args), spec.memory))
        return driver.Summary()
    monkeypatch.setattr(cli, "execute", execute)
    (tmp_path / "c").mkdir()
    (tmp_path / "ids.yaml").write_text("")
    assert cli.main(["run", "--captures", str(tmp_path / "c"), "--config",
                     str(tmp_path / "ids.yaml"), "--out", str(tmp_path / "out"), "--memory",
                     "1000"]) == 0
    assert given == [({"memory": 1000}, 500)]


class Call:
    """A method of an actor: it is done at once."""

    def __init__(self, answer):
        self.answer = answer

    def options(self, **_):
        return self

    def remote(self, *given):
        return lambda: self.answer(*given)      # a reference, read once


class Idle:
    """A worker that has read everything at once."""

    which_engine = Call(lambda: ("here", "a" * 64))
    close = Call(lambda: None)
    run = Call(lambda task: results.Done(task.name, [results.GroupState(g.key, 1, g.size)
                                                     for g in task.groups], worker="here"))


class AtOnce:
    """What the driver needs of Ray, without other processes."""

    put = staticmethod(lambda value: value)
    get = staticmethod(lambda ref: ref())
    wait = staticmethod(lambda refs, **_: (refs, []))
    kill = staticmethod(lambda _: None)

    class remote:
        def __init__(self, _):
            """The class is Worker."""

        def options(self, **_):
            return self

        def remote(self, _):
            return Idle


def test_the_memory_of_the_driver_is_flat(tmp_path, monkeypatch):
    """What Python has at most, in runs of many entries and of few: tasks of the same size."""
    monkeypatch.setattr(driver, "ray", AtOnce)
    monkeypatch.setattr(worklist, "BATCH_GROUPS", AT_ONCE)
    monkeypatch.setattr(worklist, "LEAST_GROUPS", AT_ONCE)
    spec = Spec(out=str(tmp_path), epoch="e", binary="", config=b"", rules=b"")
    store = Store(spec.out)
    peaks = []
    for count in (AT_ONCE, *ENTRIES):           # the first run loads what all need
        work = Worklist(str(tmp_path / "work.db"))
        store.write_json(results.RUN, {"epoch": "e"}, str(tmp_path))
        tracemalloc.start()
        work.fill((Capture(f"/{'c' * 200}/{n:08d}", n, n) for n in range(count)),
                  group_key("file", ""))
        work.close()
        seen = deque(maxlen=1)
        fleet = driver.Driver(spec, 2, seen.append)
        assert fleet.run(work.tasks(2)).groups == count
        fleet.close()
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[2] < peaks[1] * 1.5 + (1 << 20), peaks
    assert json.loads((tmp_path / results.RUN).read_text())["engine"] == "a" * 64
