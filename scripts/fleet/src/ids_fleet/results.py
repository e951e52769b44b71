# SPDX-License-Identifier: GPL-2.0-or-later
"""What stands in the folder of results, and what of it counts.

    events/event_type=T/date=D/TASK.parquet     records
    alerts/TASK.jsonl                           alerts, as the engine wrote them
    files/ab/HASH                               extracted files
    _fleet/run.json                             what ran: hashes of rules and configuration, epoch
    _fleet/done/TASK.json                       a task that is done: its groups and its files
    _fleet/progress.json                        the latest figures of a run

A file of events or alerts counts if _fleet/done has its task. It is written last, in one step. A
task that runs again writes the same names, so nothing doubles. What a killed worker has left is
removed when the run goes on, or ends."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ids_fleet.errors import FleetError, StoreError
from ids_fleet.store import Store

RUN = "_fleet/run.json"
DONE = "_fleet/done"
PROGRESS = "_fleet/progress.json"


@dataclass
class GroupState:
    """What became of one group. Sizes are in bytes."""

    key: str
    captures: int
    size: int
    records: int = 0
    alerts: int = 0
    tries: int = 0
    error: str = ""
    warnings: list[str] = field(default_factory=list)


@dataclass
class Done:
    """What became of one task. Times are in seconds."""

    task: str
    groups: list[GroupState]
    files: list[str] = field(default_factory=list)
    extracted: int = 0
    started: float = 0.0
    seconds: float = 0.0
    engine_cpu: float = 0.0
    other_cpu: float = 0.0
    worker: str = ""

    def as_json(self) -> dict[str, Any]:
        """All of it as JSON has it. dataclasses.asdict() would copy each value."""
        return {**vars(self), "groups": [vars(group) for group in self.groups]}

    @property
    def failed(self) -> list[GroupState]:
        """The groups that could not be read."""
        return [g for g in self.groups if g.error]

    @property
    def size(self) -> int:
        """Bytes of all groups."""
        return sum(g.size for g in self.groups)


def set_engine(store: Store, engine_hash: str, scratch: str) -> None:
    """Enters which engine the workers have, if the driver's machine has none."""
    store.write_json(RUN, {**store.read_json(RUN), "engine": engine_hash}, scratch)


def commit(store: Store, done: Done, epoch: str, scratch: str) -> None:
    """Makes the files of a task count. Raises StoreError if another run has taken over meanwhile:
    this worker's driver is gone, and its work may have been done again."""
    try:
        before = store.read_json(RUN)["epoch"]
    except FileNotFoundError as e:
        raise StoreError(f"{store.url}: its {RUN} is gone") from e
    if before != epoch:
        raise StoreError(f"{store.url}: another run has taken over")
    store.write_json(f"{DONE}/{done.task}.json", done.as_json(), scratch)


def committed(store: Store, task: str) -> Done | None:
    """What a task had, if it counts. A worker may end after its commit and before its answer."""
    try:
        value = store.read_json(f"{DONE}/{task}.json")
    except FileNotFoundError:
        return None
    return Done(**{**value, "groups": [GroupState(**g) for g in value["groups"]]})


def read_done(store: Store) -> Iterator[Done]:
    """All tasks that count. Raises FleetError if the folder has no run."""
    if not store.exists(RUN):
        raise FleetError(f"{store.url}: no results of ids-fleet")
    for name in store.names(DONE, ".json"):
        value: dict[str, Any] = store.read_json(name)
        value["groups"] = [GroupState(**g) for g in value["groups"]]
        yield Done(**value)


def sweep(store: Store) -> int:
    """Removes files of tasks that do not count, and returns how many. Only while no worker runs."""
    count = 0
    tasks = {name.rsplit("/", 1)[1].removesuffix(".json") for name in store.names(DONE, ".json")}
    for folder in ("events", "alerts", "_fleet"):
        for name in store.names(folder):
            task = name.rsplit("/", 1)[1].split(".", 1)[0]
            is_part = name.endswith(".part")
            if is_part or (folder != "_fleet" and task not in tasks):
                store.remove(name)
                count += 1
    return count
