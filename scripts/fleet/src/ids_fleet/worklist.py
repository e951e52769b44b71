# SPDX-License-Identifier: GPL-2.0-or-later
"""What is to be done: captures by group, in a database on disk.

Millions of captures do not fit the driver's memory, and the largest groups must come first. So the
list is a SQLite file, which sorts on disk and is read as the tasks are handed out."""

import hashlib
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from ids_fleet.captures import Capture, pattern_of
from ids_fleet.errors import FleetError

INSERT_AT_ONCE = 1000
BATCH_BYTES = 64 << 20          # of small groups in one task
BATCH_GROUPS = 2048
LEAST_BYTES = 4 << 20           # of a task at the end of many: a task by itself takes 50 ms of CPU
LEAST_GROUPS = 128
SHARES = 4                      # tasks that each worker still has to get, when the rest is cut
SPLIT_MAX = 4096                # shares of a group, as many as the engine can count


@dataclass
class Group:
    """One timeline: its captures are read in this order, as one capture that was cut."""

    key: str
    captures: list[Capture]
    share: int = 1              # of the flows in it, from 1
    shares: int = 1             # more than one: the group is too large for one worker

    @property
    def size(self) -> int:
        """Bytes of all its captures, or of its share."""
        return sum(c.size for c in self.captures) // self.shares

    @property
    def counted(self) -> int:
        """How many captures are done with it: those of a group that was split count once."""
        return len(self.captures) if self.share == 1 else 0


@dataclass
class Task:
    """What a worker gets at once: a large group, or many small ones."""

    groups: list[Group]
    strikes: int = 0            # workers that ended while they had it
    name: str = field(default="")

    def __post_init__(self) -> None:
        """Names it by its content, so that the same work has the same files."""
        digest = hashlib.sha256()
        for group in self.groups:
            digest.update(repr((group.key, [(c.url, c.size) for c in group.captures])).encode())
        self.name = digest.hexdigest()[:20]

    @property
    def size(self) -> int:
        """Bytes of all its captures."""
        return sum(g.size for g in self.groups)

    @property
    def label(self) -> str:
        """What people see: the group, or the first of them."""
        more = f" +{len(self.groups) - 1}" if len(self.groups) > 1 else ""
        return self.groups[0].key + more

    def split(self) -> "list[Task]":
        """A task for each group, for when one of them may end its worker."""
        return [Task([group], self.strikes) for group in self.groups]


@dataclass
class Totals:
    """Sums over the groups that are left."""

    groups: int
    captures: int
    size: int


def group_key(group_by: str, sensor: str) -> Callable[[Capture], str]:
    """The function that says to which group a capture belongs.

    `sensor` is a pattern whose first group is the sensor's name in a URL; without it the manifest
    or the first folder below a source says it. The function raises FleetError if none does, and so
    does a pattern that is none."""
    pattern = pattern_of("--sensor", sensor, groups=1) if sensor else None

    def by_sensor(capture: Capture) -> str:
        match = pattern.search(capture.url) if pattern else None
        name = (match.group(1) if match else "") if pattern else capture.sensor
        if not name:
            raise FleetError(f"{capture.url}: of which sensor? Give it a folder, a column in the "
                             "manifest, or --sensor")
        return name

    return {"file": lambda c: c.url, "folder": lambda c: c.folder, "sensor": by_sensor}[group_by]


class Worklist:
    """The database of one run."""

    def __init__(self, path: str, order: str = "time", split: int = 0) -> None:
        """Makes it anew. `order` of a group's captures: "time" of change, or "name". `split`: bytes
        above which a group is split into shares; 0: none is."""
        self.split = split
        if os.path.exists(path):
            os.unlink(path)
        self.db = sqlite3.connect(path, isolation_level=None)
        self.order = "changed, url" if order == "time" else "url"
        self.db.executescript("""
            PRAGMA journal_mode = OFF;
            PRAGMA synchronous = OFF;
            PRAGMA temp_store = FILE;
            PRAGMA cache_size = -8192;
            CREATE TABLE capture (url TEXT PRIMARY KEY, size INT, changed INT, grp TEXT)
                WITHOUT ROWID;
            CREATE TABLE done (grp TEXT PRIMARY KEY) WITHOUT ROWID;""")

    def fill(self, captures: Iterable[Capture], key: Callable[[Capture], str]) -> int:
        """Adds captures, each once, and returns how many came twice. Raises what `key` raises."""
        rows = ((c.url, c.size, c.changed, key(c)) for c in captures)
        before, given = self.db.total_changes, 0
        self.db.execute("BEGIN")
        while batch := list(islice(rows, INSERT_AT_ONCE)):
            self.db.executemany("INSERT OR IGNORE INTO capture VALUES (?, ?, ?, ?)", batch)
            given += len(batch)
        self.db.execute("COMMIT")
        return given - (self.db.total_changes - before)

    def skip(self, keys: Iterable[str]) -> None:
        """Leaves out groups that are done."""
        rows = ((key,) for key in keys)
        self.db.execute("BEGIN")
        while batch := list(islice(rows, INSERT_AT_ONCE)):
            self.db.executemany("INSERT OR IGNORE INTO done VALUES (?)", batch)
        self.db.execute("COMMIT")

    def close(self) -> Totals:
        """Ends the filling: sorts the groups, and returns how much there is to do."""
        self.db.executescript("""
            CREATE INDEX by_group ON capture (grp);""")
        self.db.execute("""
            CREATE TABLE work AS
            WITH RECURSIVE whole AS (
                SELECT grp, count(*) AS captures, sum(size) AS size FROM capture GROUP BY grp),
            cut AS (
                SELECT *, CASE WHEN :split > 0 THEN max(1, min(:most, (size - 1) / :split + 1))
                          ELSE 1 END AS shares FROM whole),
            part AS (
                SELECT grp, captures, size / shares AS size, shares, 1 AS share FROM cut
                UNION ALL
                SELECT grp, 0, size, shares, share + 1 FROM part WHERE share < shares)
            SELECT grp, captures, size, share, shares, CASE WHEN shares = 1 THEN grp
                   ELSE printf('%s %d/%d', grp, share, shares) END AS key
            FROM part WHERE key NOT IN (SELECT grp FROM done) ORDER BY size DESC, grp, share""",
                        {"split": self.split, "most": SPLIT_MAX})
        row = self.db.execute("SELECT count(*), coalesce(sum(captures), 0), coalesce(sum(size), 0) "
                              "FROM work").fetchone()
        return Totals(*row)

    def _group(self, grp: str, key: str, share: int, shares: int) -> Group:
        rows = self.db.execute(f"SELECT url, size, changed FROM capture WHERE grp = ? "
                               f"ORDER BY {self.order}", (grp,))
        return Group(key, [Capture(*row) for row in rows], share, shares)

    def tasks(self, workers: int) -> Iterator[Task]:
        """The tasks, longest first. Towards the end they are smaller, so that no worker waits long
        for another."""
        left_size, left_count = self.db.execute("SELECT coalesce(sum(size), 0), count(*) "
                                                "FROM work").fetchone()
        least_size = min(LEAST_BYTES, left_size / (SHARES * workers))
        least_count = min(LEAST_GROUPS, left_count / (SHARES * workers))
        groups: list[Group] = []
        size = 0
        for group_size, *about in self.db.execute(
                "SELECT size, grp, key, share, shares FROM work ORDER BY rowid"):
            groups.append(self._group(*about))
            size += group_size
            enough = min(BATCH_BYTES, left_size / (SHARES * workers))
            many = min(BATCH_GROUPS, left_count / (SHARES * workers))
            if 0 < max(enough, least_size) <= size or len(groups) >= max(many, least_count):
                yield Task(groups)
                left_size, left_count = left_size - size, left_count - len(groups)
                groups, size = [], 0
        if groups:
            yield Task(groups)
