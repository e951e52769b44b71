# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the Parquet of a run: SQL over it, and the comparison with the records of one engine."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import duckdb

from ids_fleet import records
from ids_fleet.errors import FleetError
from ids_fleet.store import Store, is_local

FETCH = 2000
EXAMPLES = 5


def connect(store: Store) -> Any:
    """A database with a view for each event type, and `events`, what all of them have in common.

    Raises FleetError if there are no records."""
    db = duckdb.connect()
    if not is_local(store.fs):
        db.register_filesystem(store.fs)
    types = sorted({name.split("event_type=", 1)[1].split("/", 1)[0]
                    for name in store.names("events", ".parquet")})
    if not types:
        raise FleetError(f"{store.url}: there are no records")
    for event in types:
        db.execute(f"CREATE VIEW {records.quote(event)} AS SELECT * FROM {table(store, event)}")
    db.execute(f"CREATE VIEW events AS SELECT * FROM {table(store, '*')}")
    return db


def table(store: Store, event: str) -> str:
    """The table function of DuckDB for the files of one event type, or of all (`*`)."""
    place = store.path(f"events/event_type={event}/*/*.parquet")
    url = place if is_local(store.fs) else str(store.fs.unstrip_protocol(place))
    return (f"read_parquet({records.text(url)}, hive_partitioning = true, union_by_name = true, "
            "hive_types = {'event_type': VARCHAR, 'date': DATE})")


def event_types(db: Any) -> list[str]:
    """The event types of a database of connect()."""
    names = db.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal "
                       "AND view_name <> 'events' ORDER BY 1").fetchall()
    return [name for (name,) in names]


@dataclass
class Comparison:
    """How the records of a run and of one engine differ. `changed` are records that have the same
    bytes in both, and other columns."""

    same: int = 0
    only_fleet: Counter[str] = field(default_factory=Counter)
    only_engine: Counter[str] = field(default_factory=Counter)
    changed: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)

    @property
    def equal(self) -> bool:
        """Whether nothing differs."""
        return not (self.only_fleet or self.only_engine or self.changed)

    def example(self, what: str, text: str) -> None:
        """Keeps a few."""
        if len(self.examples) < EXAMPLES:
            self.examples.append(f"{what}: {text}")


def _rows(db: Any, sql: str) -> Iterator[tuple[Any, ...]]:
    found = db.cursor().execute(sql)
    while rows := found.fetchmany(FETCH):
        yield from rows


def _of_fleet(db: Any, event: str) -> Iterator[tuple[bytes, dict[str, Any]]]:
    cursor = db.cursor().execute(f"SELECT * FROM {records.quote(event)} ORDER BY fleet_digest")
    names = [column[0] for column in cursor.description]
    while rows := cursor.fetchmany(FETCH):
        for row in rows:
            columns = dict(zip(names, row, strict=True))
            yield bytes(columns["fleet_digest"]), columns


def _by_digest(pairs: Iterable[tuple[bytes, Any]]) -> Iterator[tuple[bytes, list[Any]]]:
    for digest, group in groupby(pairs, key=lambda pair: pair[0]):
        yield digest, [value for _, value in group]


def compare(store: Store, eve: list[str]) -> Comparison:
    """Compares the records of a run with those of EVE files: by the bytes of each line, by how
    often it comes, and by what the columns of Parquet say.

    Statistics are left out, which depend on time and threads. Both sides are read in the order of
    their digests, so memory stays small. Raises FleetError."""
    db = connect(store)
    try:
        db.execute(f"""
            CREATE TABLE alone AS
            SELECT unhex(md5(doc)) AS digest, doc, CASE WHEN
                regexp_full_match(event, '{records.TYPE_NAME.pattern}') THEN event ELSE 'other' END
                AS event
            FROM (SELECT json::VARCHAR AS doc, coalesce(json->>'$.event_type', 'other') AS event
                  FROM {records.lines_of(eve)})
            WHERE event <> 'stats'""")
    except duckdb.Error as e:
        raise FleetError(f"{', '.join(eve)}: {e}") from e
    result = Comparison()
    in_fleet = event_types(db)
    alone = [e for (e,) in db.execute("SELECT DISTINCT event FROM alone ORDER BY 1").fetchall()]
    for event in sorted({*in_fleet, *alone} - {"stats"}):
        mine = _by_digest(_of_fleet(db, event)) if event in in_fleet else iter(())
        theirs = _by_digest(_rows(db, f"SELECT digest, doc FROM alone WHERE event = "
                                      f"{records.text(event)} ORDER BY digest"))
        _merge(event, mine, theirs, result)
    return result


def _merge(event: str, mine: Iterator[tuple[bytes, list[Any]]],
           theirs: Iterator[tuple[bytes, list[Any]]], result: Comparison) -> None:
    """Walks both sides, which are in the order of their digests."""
    left, right = next(mine, None), next(theirs, None)
    while left is not None or right is not None:
        if right is None or (left is not None and left[0] < bytes(right[0])):
            assert left is not None
            _only(result.only_fleet, result, event,
                  [json.dumps(records.record_of(event, c), default=str) for c in left[1]])
            left = next(mine, None)
        elif left is None or left[0] > bytes(right[0]):
            _only(result.only_engine, result, event, right[1])
            right = next(theirs, None)
        else:
            _both(event, left[1], right[1], result)
            left, right = next(mine, None), next(theirs, None)


def _only(counter: Counter[str], result: Comparison, event: str, texts: list[str]) -> None:
    counter[event] += len(texts)
    where = "only in the results" if counter is result.only_fleet else "only of one engine"
    result.example(where, texts[0])


def _both(event: str, mine: list[dict[str, Any]], theirs: list[str], result: Comparison) -> None:
    """Records with the same bytes, some more often on one side."""
    more = len(mine) - len(theirs)
    if more > 0:
        result.only_fleet[event] += more
        result.example(f"{more} times more in the results", theirs[0])
    elif more < 0:
        result.only_engine[event] -= more
        result.example(f"{-more} times more of one engine", theirs[0])
    for columns in mine[:len(theirs)]:
        if records.same(records.record_of(event, columns), theirs[0]):
            result.same += 1
        else:
            result.changed[event] += 1
            result.example("columns say otherwise",
                           json.dumps(records.record_of(event, columns), default=str))
