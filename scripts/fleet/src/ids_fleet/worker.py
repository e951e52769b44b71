# SPDX-License-Identifier: GPL-2.0-or-later
"""A worker: one engine that stays loaded, and the way of a task through it.

Captures in, records out: a task's captures are brought to this machine if they are elsewhere, read
by the engine, converted, and stored. The last file that is written says what the task had. Without
this one the others do not count. While one task is converted, the engine reads the next."""

import contextlib
import errno
import fcntl
import glob
import hashlib
import os
import resource
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import IO

from ids_fleet import across, engine_file, results
from ids_fleet.captures import Capture, changed_ns
from ids_fleet.engine import Engine, Outcome, Run, Settings
from ids_fleet.errors import EngineError, StoreError
from ids_fleet.records import Converter, Source
from ids_fleet.store import FULL, Store, is_local, local_path, retry, split_url
from ids_fleet.worklist import Group, Task

IN_WORK = 2                     # tasks of a worker: one in the engine, one in conversion
FETCH_AT_ONCE = 8
TRIES = 2                       # of a group that makes the engine fail
HASH_LEN = 64
LEAST_FREE = 1 << 20            # bytes of the disk, below which it is full
PREFIX = "ids-fleet-worker-"
CPU_PREFIX = "ids-fleet-cpu-"


@dataclass
class Spec:
    """What all workers of a run have in common. Sent to each of them once."""

    out: str
    epoch: str                  # of the run that started the worker
    binary: str                 # a path on each machine, if `engine` is empty
    config: bytes
    rules: bytes                # empty: those of the configuration
    files: dict[str, bytes] = field(default_factory=dict)       # beside the configuration
    arguments: list[str] = field(default_factory=list)
    memory: int = 0             # bytes for the engine; 0: as configured
    limit_s: float = 0.0        # seconds for one group; 0: none
    order: str = "time"         # of the captures of a group: "time" of change, or "name"
    scratch: str = ""           # folder for files that are in work; "": the system's
    one_cpu: bool = False       # a worker and its engine have one CPU, not one on average
    engine: bytes = b""         # the program, or a package with it


@dataclass
class Staged:
    """A group that is ready for the engine."""

    group: Group
    source: str                 # file or folder
    folder: str                 # of its records
    replaced: list[tuple[str, str]]
    records: dict[str, tuple[int, int]] = field(default_factory=dict)   # as of its Outcome

    @property
    def share(self) -> str:
        """Of the flows in it, for the engine; "": all."""
        return f"{self.group.share}/{self.group.shares}" if self.group.shares > 1 else ""


@dataclass
class Job:
    """A task in work. `folder` is on this machine; `good` are the groups that were read."""

    task: Task
    folder: str
    states: dict[str, results.GroupState]
    good: list[Staged] = field(default_factory=list)
    engine_cpu: float = 0.0

    def new_folder(self) -> str:
        """An empty folder, which goes with the task."""
        return tempfile.mkdtemp(dir=self.folder)


def scratch_folder(parent: str) -> tuple[str, IO[bytes]]:
    """Makes a worker's folder, and removes those of workers that were killed: their locks are free.
    The folder belongs to the worker as long as the file is open."""
    for old in glob.glob(os.path.join(glob.escape(parent), f"{PREFIX}*", "lock")):
        with contextlib.suppress(OSError), open(old, "rb") as f:
            fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(os.path.dirname(old), ignore_errors=True)
    folder = tempfile.mkdtemp(prefix=PREFIX, dir=parent)
    aside = os.path.join(folder, "lock.new")
    lock = open(aside, "wb")
    fcntl.flock(lock, fcntl.LOCK_EX)
    os.rename(aside, os.path.join(folder, "lock"))      # nobody sees it before it is locked
    return folder, lock


def cpu_of_this() -> float:
    """User and system seconds of this process, without its children."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def one_cpu(folder: str) -> IO[bytes] | None:
    """Holds this process, and those that it starts, to a CPU that no other worker with this folder
    holds. The file returned is the claim, until it is closed; None: no CPU is left, or Linux does
    not let us."""
    for cpu in sorted(os.sched_getaffinity(0)):
        claim = open(os.path.join(folder, f"{CPU_PREFIX}{cpu}"), "ab")
        try:
            fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for thread in os.listdir("/proc/self/task"):
                with contextlib.suppress(ProcessLookupError):
                    os.sched_setaffinity(int(thread), {cpu})
            return claim
        except OSError:
            claim.close()
    return None


class Worker:
    """Runs tasks, IN_WORK at once. An actor of Ray, or an object of a test."""

    def __init__(self, spec: Spec) -> None:
        """Starts the engine. Raises EngineError if it refuses its rules or configuration."""
        self.spec = spec
        self.scratch, self.lock = scratch_folder(spec.scratch or tempfile.gettempdir())
        parent = os.path.dirname(self.scratch)
        self.cpu_claim = one_cpu(parent) if spec.one_cpu else None
        self.store = Store(spec.out)
        self.reading, self.storing = threading.Lock(), threading.Lock()
        self.counted_cpu, self.counted_to = cpu_of_this(), 0.0      # by tasks that are done
        self.converter = Converter(os.path.join(self.scratch, "records"), across.rules_across(
            spec.rules.decode(errors="replace"),
            spec.files.get("threshold.config", b"").decode(errors="replace")))
        for name, content in spec.files.items():
            self._file(name, content)
        binary = engine_file.place(spec.engine, os.path.join(self.scratch, "engine")) \
            if spec.engine else engine_file.path_of(spec.binary)
        if not binary:
            raise EngineError(f"{os.uname().nodename}: there is no {spec.binary}")
        self.engine_hash = engine_file.file_hash(binary)
        self.settings = Settings(
            binary, self._file("ids.yaml", spec.config),
            self._file("fleet.rules", spec.rules) if spec.rules else "",
            spec.arguments, spec.memory)
        self.engines = 0
        self.engine_cpu = 0.0           # of engines that have ended
        self.engine = self._start()

    def _file(self, name: str, content: bytes) -> str:
        path = os.path.join(self.scratch, name)
        with open(path, "wb") as f:
            f.write(content)
        return path

    def _start(self) -> Engine:
        self.engines += 1
        return Engine(self.settings, os.path.join(self.scratch, f"engine-{self.engines}"))

    def _restart(self) -> None:
        self.engine_cpu += self.engine.cpu()
        self.engine.close()
        self.engine = self._start()

    def which_engine(self) -> tuple[str, str]:
        """This machine and the SHA-256 of the engine's file."""
        return os.uname().nodename, self.engine_hash

    def run(self, task: Task) -> results.Done:
        """Runs a task and stores what came of it. Raises StoreError if a store does not answer or
        refuses the results, or the disk of this machine is full, FleetError if the setup is
        wrong."""
        try:
            return self._run(task)
        except OSError as e:
            if getattr(e, "errno", None) in FULL or "No space left" in str(e):
                raise StoreError(f"{os.uname().nodename}:{self.scratch}: {e}") from e
            raise

    def _run(self, task: Task) -> results.Done:
        started = time.time()
        states = {g.key: results.GroupState(g.key, g.counted, g.size) for g in task.groups}
        job = Job(task, tempfile.mkdtemp(prefix="task-", dir=self.scratch), states)
        try:
            with self.reading:
                cpu = self.engine_cpu + self.engine.cpu()
                self._read_all(job)
                job.engine_cpu = self.engine_cpu + self.engine.cpu() - cpu
            with self.storing:
                return self._store(job, started)
        finally:
            shutil.rmtree(job.folder, ignore_errors=True)

    def _store(self, job: Job, started: float) -> results.Done:
        done = results.Done(job.task.name, list(job.states.values()), engine_cpu=job.engine_cpu)
        done.files = self._store_records(job)
        done.extracted = self._store_extracted(job)
        done.worker = f"{os.uname().nodename}:{os.getpid()}"
        # Tasks overlap, so each counts what no other has counted.
        now, cpu = time.time(), cpu_of_this()
        done.started, done.seconds = started, now - max(started, self.counted_to)
        done.other_cpu = cpu - self.counted_cpu
        self.counted_to, self.counted_cpu = now, cpu
        results.commit(self.store, done, self.spec.epoch, self.scratch)
        return done

    # --- captures in ---

    def _stage(self, group: Group, job: Job, out: str) -> Staged:
        """Makes a group ready: a file that is here stays where it is. Several are one folder, in
        which the engine finds them in their order. `out` is the folder for its records; "": one of
        its own. Raises OSError."""
        out = out or job.new_folder()
        here = lone_path(group)
        if here is not None:
            os.stat(here)
            return Staged(group, here, out, [])
        inside, replaced = job.new_folder(), []
        for number, capture in enumerate(group.captures):
            name = f"{number:08d}-{os.path.basename(capture.url)}"
            self._bring(capture, os.path.join(inside, name), number)
            replaced.append((os.path.join(inside, name), capture.url))
        source = inside if len(replaced) > 1 else replaced[0][0]
        return Staged(group, source, out, replaced)

    def _bring(self, capture: Capture, target: str, number: int) -> None:
        """Links or copies one capture. The engine reads a folder by time of change and then by
        name, and `number` is in the name."""
        fs, path = split_url(capture.url)
        by_time = self.spec.order == "time"
        changed = capture.changed if by_time else number + 1
        if is_local(fs):
            if by_time and changed_ns(fs.info(path)) == changed and linked(path, target):
                return
            shutil.copyfile(path, target)
        else:
            retry(capture.url, lambda: fs.get_file(path, target))
        os.utime(target, ns=(changed, changed))

    def _staged(self, groups: list[Group], job: Job) -> Iterator[Staged]:
        """The groups as they become ready, in their order; some are brought at once. One that
        cannot be brought has failed. Raises StoreError if its store does not answer.

        They have a folder for their records together, unless files are extracted there, too: those
        of a group that fails do not count."""
        out = "" if self.engine.extracts else job.new_folder()
        with ThreadPoolExecutor(FETCH_AT_ONCE) as pool:
            waiting: list[tuple[Group, Future[Staged] | None]] = [
                (group, pool.submit(self._stage, group, job, out)
                 if lone_path(group) is None else None)
                for group in groups]
            for group, ready in waiting:
                try:
                    yield ready.result() if ready else self._stage(group, job, out)
                except OSError as e:            # of this capture: a store that is away ends the run
                    job.states[group.key].error = f"{type(e).__name__}: {e}"
                    job.states[group.key].tries += 1

    # --- the engine ---

    def _read_all(self, job: Job) -> None:
        """Reads all groups, and those that failed a second time, each alone."""
        for group in self._read(job.task.groups, job):
            job.states[group.key].error = ""
            self._read([group], job)

    def _read(self, groups: list[Group], job: Job) -> list[Group]:
        """Reads groups in one go and returns those that failed. If the engine ends, the group that
        it had has failed, and those after it are read by another."""
        failed: list[Group] = []
        while groups:
            run: Run = Run(self.engine)
            given: list[Staged] = []
            try:
                for staged in self._staged(groups, job):
                    run.add(staged.source, staged.folder, staged.share)
                    given.append(staged)
                run.wait(self.spec.limit_s)
            except EngineError as e:
                given = self._end(run, given, e)
            self._sort(run, given, job)
            read = {s.group.key for s in given}
            failed += [g for g in groups if job.states[g.key].error]
            groups = [g for g in groups if g.key not in read and not job.states[g.key].error]
        return failed

    def _end(self, run: Run, given: list[Staged], error: EngineError) -> list[Staged]:
        """The engine has ended: starts another, blames the group that it had, and returns what was
        read until then, this group included. Raises EngineError if it had none."""
        run.read_log()
        reason = str(error) if run.timed_out else self.engine.end_reason()
        self._restart()
        if run.current < 0:
            raise EngineError(reason) from error
        at = min(run.current, len(given) - 1)
        run.outcomes[at].error = reason
        return given[:at + 1]

    def _sort(self, run: Run, given: list[Staged], job: Job) -> None:
        """Tells the groups that were read from those that were not. Raises OSError if the log is
        not whole for a full disk."""
        for staged, outcome in zip(given, run.outcomes, strict=False):
            state = job.states[staged.group.key]
            state.tries += 1
            state.error, state.warnings = describe(outcome, staged)
            staged.records = outcome.records
            if not state.error and len(staged.records) < len(self.engine.eve_files):
                if shutil.disk_usage(self.scratch).free < LEAST_FREE:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                state.error = "the engine did not say where its records are; is it too old?"
            if not state.error:
                job.good.append(staged)

    # --- records out ---

    def _store_records(self, job: Job) -> list[str]:
        sources = [Source(s.group.key, path, s.replaced, s.group.shares > 1, start, end)
                   for s in job.good for path, (start, end) in s.records.items()]
        made = self.converter.convert(sources, job.task.name)
        for key in made.records:
            job.states[key].records = made.records[key]
            job.states[key].alerts = made.alerts[key]
        try:
            for name, local in made.files.items():
                self.store.put(local, name)
        finally:
            for local in made.files.values():
                if os.path.exists(local):
                    os.unlink(local)
        return sorted(made.files)

    def _store_extracted(self, job: Job) -> int:
        """Stores files that the engine extracted, by their hash; returns how many were new."""
        new = 0
        for staged in job.good:
            for base, _, files in os.walk(os.path.join(staged.folder, "filestore")):
                for name in files:
                    target = f"files/{name[:2]}/{name}"
                    if len(name) == HASH_LEN and not self.store.exists(target):
                        self.store.put(os.path.join(base, name), target)
                        new += 1
        return new

    def close(self) -> None:
        """Ends the engine and removes what is on this machine."""
        self.engine.close()
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.lock.close()
        if self.cpu_claim is not None:
            self.cpu_claim.close()


def lone_path(group: Group) -> str | None:
    """The path of a group of one capture that is on this machine, or may be."""
    return local_path(group.captures[0].url) if len(group.captures) == 1 else None


def linked(path: str, target: str) -> bool:
    """Makes a hard link, or returns False where the file system has none."""
    try:
        os.link(os.path.realpath(path), target)
    except FileNotFoundError:
        raise
    except OSError:
        return False
    return True


def describe(outcome: Outcome, staged: Staged) -> tuple[str, list[str]]:
    """Error and warnings, with captures by their URLs."""
    error, warnings = outcome.error, outcome.warnings
    for here, url in staged.replaced:
        error = error.replace(here, url)
        warnings = [w.replace(here, url) for w in warnings]
    return error, warnings


def content_hash(*parts: bytes) -> str:
    """SHA-256 over parts, with their lengths, in hex digits."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()
