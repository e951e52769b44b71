# SPDX-License-Identifier: GPL-2.0-or-later
"""The driver of a run: hands tasks to workers on Ray, and answers when one of them is lost."""

import heapq
import os
import socket
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import ray
from ray.exceptions import RayActorError, RayTaskError

from ids_fleet import results
from ids_fleet.errors import FleetError
from ids_fleet.store import Store, one_line
from ids_fleet.worker import IN_WORK, Spec, Worker
from ids_fleet.worklist import Task

AHEAD = IN_WORK + 1             # tasks that a worker has: one waits
STRIKES = 2                     # workers that a group may end
TASK_TRIES = 2                  # of a task that raised an error
SLOWEST = 10
WAIT_S = 1.0
CONNECT_S = 10.0
OBJECT_STORE = 256 << 20        # bytes, of a local cluster: tasks and answers are small


@dataclass
class Summary:
    """The figures of a run. Sizes in bytes, times in seconds."""

    groups: int = 0
    captures: int = 0
    size: int = 0
    records: int = 0
    alerts: int = 0
    extracted: int = 0
    failed: list[results.GroupState] = field(default_factory=list)
    warned: int = 0
    lost_workers: int = 0
    engine_cpu: float = 0.0
    other_cpu: float = 0.0
    started: float = field(default_factory=time.time)
    seconds: float = 0.0
    by_worker: Counter[str] = field(default_factory=Counter)
    busy: Counter[str] = field(default_factory=Counter)
    slowest: list[tuple[float, str]] = field(default_factory=list)

    def add(self, done: results.Done, label: str) -> None:
        """Counts a task."""
        self.groups += len(done.groups)
        self.captures += sum(g.captures for g in done.groups)
        self.size += done.size
        self.records += sum(g.records for g in done.groups)
        self.alerts += sum(g.alerts for g in done.groups)
        self.warned += sum(bool(g.warnings) for g in done.groups)
        self.extracted += done.extracted
        self.failed += done.failed
        self.engine_cpu += done.engine_cpu
        self.other_cpu += done.other_cpu
        self.seconds = time.time() - self.started
        self.by_worker[done.worker] += done.size
        self.busy[done.worker] += int(done.seconds * 1000)
        heapq.heappush(self.slowest, (done.seconds, label))
        if len(self.slowest) > SLOWEST:
            heapq.heappop(self.slowest)


@dataclass
class Slot:
    """A place for a worker, and the tasks it has, the oldest first. It gets none until it is up: a
    lost node may never be replaced."""

    actor: Any
    start: Any                  # answer of a worker that has started
    is_up: bool = False
    tasks: deque[tuple[Any, Task]] = field(default_factory=deque)


class Driver:
    """One run. `progress` is called after each task."""

    def __init__(self, spec: Spec, workers: int, progress: Callable[[Summary], None],
                 options: dict[str, Any] | None = None, engine_hash: str = "") -> None:
        """Starts the workers; `options` are those of their actors, such as memory in bytes.
        `engine_hash` is what the file of each engine must have; "": what the first one has."""
        self.engine_hash = engine_hash
        self.spec = ray.put(spec)
        self.store = Store(spec.out)
        self.epoch = spec.epoch
        self.scratch = spec.scratch or "/tmp"
        self.options = {"num_cpus": 1, "max_concurrency": IN_WORK, **(options or {})}
        self.progress = progress
        self.summary = Summary()
        self.again: deque[Task] = deque()
        self.tries: Counter[str] = Counter()
        self.slots = [self._slot() for _ in range(workers)]
        self.is_empty = False           # no task is left in the list

    def _slot(self) -> Slot:
        actor = ray.remote(Worker).options(**self.options).remote(self.spec)
        return Slot(actor, actor.which_engine.remote())

    def run(self, tasks: Iterator[Task]) -> Summary:
        """Runs all tasks. Raises FleetError if an engine refuses its rules or configuration,
        StoreError if a store does not answer or the results cannot be stored."""
        while True:
            self._fill(tasks)
            if self.is_empty and not self.again and not any(s.tasks for s in self.slots):
                return self.summary
            pending = [ref for slot in self.slots for ref, _ in slot.tasks]
            pending += [slot.start for slot in self.slots if not slot.is_up]
            ray.wait(pending, num_returns=1, timeout=WAIT_S)
            ready = set(ray.wait(pending, num_returns=len(pending), timeout=0)[0])
            for number in range(len(self.slots)):
                self._started(number, ready)
                while self.slots[number].tasks and self.slots[number].tasks[0][0] in ready:
                    self._take(number)

    def _started(self, number: int, ready: set[Any]) -> None:
        """Notes that a worker is up, or puts another in its place."""
        slot = self.slots[number]
        if slot.is_up or slot.start not in ready:
            return
        try:
            self._same_engine(*ray.get(slot.start))
            slot.is_up = True
        except RayActorError as e:
            if "creation task" in str(e):       # its engine refuses what all get
                raise FleetError(f"a worker did not start: {e}") from e
            self.slots[number] = self._slot()

    def _same_engine(self, machine: str, found: str) -> None:
        """Raises FleetError if a worker has another engine than the run."""
        if not self.engine_hash:
            self.engine_hash = found
            results.set_engine(self.store, found, self.scratch)
        elif found != self.engine_hash:
            raise FleetError(f"{machine}: its engine ({found[:16]}) is not that of the run "
                             f"({self.engine_hash[:16]})")

    def close(self) -> None:
        """Ends the workers, each after its cleaning up."""
        ends = [slot.actor.close.remote() for slot in self.slots]
        ray.wait(ends, num_returns=len(ends), timeout=10)
        for slot in self.slots:
            ray.kill(slot.actor)

    def _fill(self, tasks: Iterator[Task]) -> None:
        for ahead in range(1, AHEAD + 1):       # all get a first task before one gets a second
            for slot in self.slots:
                if not slot.is_up or len(slot.tasks) >= ahead \
                        or (slot.tasks and slot.tasks[0][1].strikes):
                    continue
                task = self._next(tasks, is_busy=bool(slot.tasks))
                if task is None:
                    self.is_empty = True
                    return
                ref = slot.actor.run.options(name=task.label).remote(task)
                slot.tasks.append((ref, task))

    def _next(self, tasks: Iterator[Task], is_busy: bool) -> Task | None:
        """The next task for a worker. One that may have ended a worker goes to an idle one, so that
        it is plain which task does it."""
        for at, task in enumerate(self.again):
            if not (is_busy and task.strikes):
                del self.again[at]
                return task
        return next(tasks, None)

    def _take(self, number: int) -> None:
        """Takes the answer to the oldest task of a worker."""
        slot = self.slots[number]
        ref, task = slot.tasks.popleft()
        try:
            self._done(ray.get(ref), task)
        except RayActorError:
            self._lost(number, task)
        except RayTaskError as e:
            self._raised(task, e.cause if isinstance(e.cause, Exception) else e)

    def _done(self, done: results.Done, task: Task) -> None:
        self.summary.add(done, task.label)
        self.progress(self.summary)

    def _raised(self, task: Task, error: Exception) -> None:
        """A task that raised an error is tried again; a store that refuses ends the run, and so
        does a mistake of the setup."""
        if isinstance(error, FleetError):
            raise error
        self.tries[task.name] += 1
        if self.tries[task.name] < TASK_TRIES:
            self.again.append(task)
        elif len(task.groups) > 1:
            self.again.extend(task.split())
        else:
            self._give_up(task, f"{type(error).__name__}: {error}")

    def _lost(self, number: int, oldest: Task) -> None:
        """The worker has ended. One of the tasks in work may be why; one that waited is not."""
        self.summary.lost_workers += 1
        given = [oldest, *(task for _, task in self.slots[number].tasks)]
        self.slots[number] = self._slot()
        for place, task in enumerate(given):
            done = results.committed(self.store, task.name)
            if done is not None:                # in parts its groups would count twice
                self._done(done, task)
            elif place < IN_WORK:
                self._strike(task)
            else:
                self.again.append(task)

    def _strike(self, task: Task) -> None:
        """A worker ended while it had the task in work."""
        task.strikes += 1
        if task.strikes < STRIKES:
            self.again.append(task)
        elif len(task.groups) > 1:
            self.again.extend(Task([g], task.strikes - 1) for g in task.groups)
        else:
            self._give_up(task, "the worker that read it ended, twice")

    def _give_up(self, task: Task, reason: str) -> None:
        """Records groups that could not be read by any worker."""
        groups = [results.GroupState(g.key, g.counted, g.size, tries=STRIKES, error=reason)
                  for g in task.groups]
        done = results.Done(task.name, groups, started=time.time())
        results.commit(self.store, done, self.epoch, self.scratch)
        self.summary.add(done, task.label)
        self.progress(self.summary)


def require_listener(address: str) -> None:
    """Raises FleetError if nobody answers at a cluster's address: Ray itself asks for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_S).close()
    except OSError as e:
        raise FleetError(f"{address}: no Ray cluster: {e}") from e


def connect(address: str, parallel: int, is_image: bool = False) -> int:
    """Connects to a cluster ("local" starts one here), and returns how many workers to start: as
    many as it has CPUs, unless `parallel` says. `is_image`: workers have this package from their
    image, where Ray brings no files. Raises FleetError if there is no cluster."""
    require_listener(address)
    package = os.path.dirname(os.path.abspath(__file__))
    quiet = {"logging_level": "error", "log_to_driver": False}
    try:
        if address == "local":
            ray.init(address="local", num_cpus=parallel or None, object_store_memory=OBJECT_STORE,
                     include_dashboard=None, **quiet)
        elif not ray.is_initialized():
            brought = {} if is_image else {"py_modules": [package]}
            ray.init(address=address, runtime_env=brought, **quiet)
    except Exception as e:          # Ray raises errors of all classes, Exception itself among them
        raise FleetError(f"{address}: no Ray cluster: {one_line(e)}. If it has a token, give it "
                         "here too (RAY_AUTH_MODE, doc/fleet.md)") from e
    return parallel or max(1, int(ray.cluster_resources().get("CPU", 1)))
