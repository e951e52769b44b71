# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes Parquet of EVE files, with a type for each field, and the record back from its columns.

DuckDB reads the lines and writes the columns. A field without a column, or with a value that its
column cannot hold, goes to `fleet_rest` as JSON; only the records that have one pass through
Python. Which do is seen from the structures of the records, which are few."""

import json
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import duckdb

from ids_fleet import schema

LINE_MAX = 16 << 20             # bytes of a record; the reader takes two such buffers
SLOW_AT_ONCE = 5000             # records in Python at once
TYPE_NAME = re.compile(r"[a-z0-9_]{1,64}")
DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
ROW_GROUP = 122880
TIME = "%Y-%m-%dT%H:%M:%S.%f%z"
LONG_NUMBER = r'[:\[,]\s*-?[0-9]{19}'


@dataclass
class Source:
    """The EVE file of one group. `replaced` are texts in its lines, such as where a capture was
    kept meanwhile, with what stands for them."""

    group: str
    path: str
    replaced: list[tuple[str, str]]


@dataclass
class Made:
    """What convert() made: files by the name they get, and numbers of records by group."""

    files: dict[str, str]
    records: dict[str, int]
    alerts: dict[str, int]


def quote(name: str) -> str:
    """A name for SQL."""
    return '"' + name.replace('"', '""') + '"'


def text(value: str) -> str:
    """A text for SQL."""
    return "'" + value.replace("'", "''") + "'"


class Converter:
    """Keeps one database in memory, which spills into a folder."""

    def __init__(self, scratch: str, memory: int = 512 << 20) -> None:
        """`memory` in bytes is what the database may use."""
        self.scratch = scratch
        os.makedirs(scratch, exist_ok=True)
        self.db = duckdb.connect(config={
            "threads": 1, "memory_limit": f"{max(memory >> 20, 64)}MB",
            "temp_directory": os.path.join(scratch, "spill")})
        self.db.execute("SET preserve_insertion_order = true")

    def convert(self, sources: list[Source], name: str) -> Made:
        """Writes files called `name` below the scratch folder: Parquet by event type and date, and
        alerts as they are. Raises duckdb.Error if a line is no JSON."""
        made = Made({}, {s.group: 0 for s in sources}, {s.group: 0 for s in sources})
        sources = [s for s in sources if os.path.getsize(s.path) > 0]
        if not sources:
            return made
        self._load(sources)
        self._separate()
        for group, records, alerts in self.db.execute(
                "SELECT grp, count(*), count(*) FILTER (event = 'alert') FROM line "
                "GROUP BY grp").fetchall():
            made.records[group], made.alerts[group] = records, alerts
        for event, date in self.db.execute("SELECT DISTINCT event, date FROM line "
                                           "ORDER BY ALL").fetchall():
            self._write(event, date, name, made)
        if any(made.alerts.values()):
            self._write_alerts(name, made)
        self.db.execute("DROP TABLE line; DROP TABLE source; DROP TABLE slow")
        return made

    def _load(self, sources: list[Source]) -> None:
        self.db.execute("CREATE OR REPLACE TABLE source (filename VARCHAR, grp VARCHAR)")
        self.db.executemany("INSERT INTO source VALUES (?, ?)",
                            [(s.path, s.group) for s in sources])
        paths = ", ".join(text(s.path) for s in sources)
        # One thread, so the rows are in the order of the lines.
        self.db.execute(f"""
            CREATE OR REPLACE TABLE raw AS
            SELECT row_number() OVER () AS n, filename, json::VARCHAR AS doc
            FROM read_ndjson_objects([{paths}], filename = true,
                                     maximum_object_size = {LINE_MAX})""")
        for source in sources:
            for old, new in source.replaced:
                self.db.execute("UPDATE raw SET doc = replace(doc, ?, ?) WHERE filename = ?",
                                [old, new, source.path])
        self.db.execute("""
            CREATE OR REPLACE TABLE line AS
            WITH first AS (SELECT filename, min(n) AS n FROM raw GROUP BY filename)
            SELECT raw.n AS n, raw.n - first.n + 1 AS line, grp, doc,
                   doc->>'$.event_type' AS event, left(doc->>'$.timestamp', 10) AS date,
                   json_structure(doc)::VARCHAR AS structure
            FROM raw JOIN first USING (filename) JOIN source USING (filename) ORDER BY raw.n;
            DROP TABLE raw""")
        self.db.execute("UPDATE line SET event = 'other' WHERE event IS NULL "
                        f"OR NOT regexp_full_match(event, '{TYPE_NAME.pattern}')")
        self.db.execute("UPDATE line SET date = '1970-01-01' WHERE date IS NULL "
                        f"OR NOT regexp_full_match(date, '{DATE.pattern}')")

    def _separate(self) -> None:
        """Fills `slow`: the records that do not fit their columns, in two parts."""
        self.db.execute("CREATE OR REPLACE TABLE slow (n BIGINT, known VARCHAR, rest VARCHAR)")
        odd = [s for (s,) in self.db.execute("SELECT DISTINCT structure FROM line").fetchall()
               if not schema.holds(schema.eve(), json.loads(s))]
        self.db.execute("CREATE OR REPLACE TABLE odd (structure VARCHAR)")
        if odd:
            self.db.executemany("INSERT INTO odd VALUES (?)", [(s,) for s in odd])
        found = self.db.cursor().execute(
            "SELECT n, doc FROM line WHERE structure IN (SELECT structure FROM odd) "
            f"OR regexp_matches(doc, '{LONG_NUMBER}')")
        while rows := found.fetchmany(SLOW_AT_ONCE):
            self.db.executemany("INSERT INTO slow VALUES (?, ?, ?)", [in_two(*row) for row in rows])

    def _columns(self, event: str, date: str) -> dict[str, schema.Type]:
        """The columns that the records of one file have: of the top level, those that occur."""
        rows = self.db.execute(
            "SELECT DISTINCT structure FROM line WHERE event = ? AND date = ?",
            [event, date]).fetchall()
        found: set[str] = set()
        for (structure,) in rows:
            found |= set(json.loads(structure))
        return {key: kind for key, kind in schema.eve().items()
                if key in found and key != "event_type"}

    def _write(self, event: str, date: str, name: str, made: Made) -> None:
        kinds = json.dumps(self._columns(event, date) or {"timestamp": "VARCHAR"})
        target = f"events/event_type={event}/date={date}/{name}.parquet"
        local = os.path.join(self.scratch, f"{name}-{event}-{date}.parquet")
        self.db.execute(f"""
            COPY (SELECT fleet_group, fleet_line, fleet_digest, fleet_rest, time, unnest(r)
                  FROM (SELECT grp AS fleet_group, line AS fleet_line,
                               unhex(md5(doc)) AS fleet_digest, rest::JSON AS fleet_rest,
                               try_strptime(doc->>'$.timestamp', '{TIME}')
                                   AT TIME ZONE 'UTC' AS time,
                               from_json(coalesce(known, doc), {text(kinds)}) AS r
                        FROM line LEFT JOIN slow USING (n)
                        WHERE event = {text(event)} AND date = {text(date)} ORDER BY n))
            TO {text(local)} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {ROW_GROUP})""")
        made.files[target] = local

    def _write_alerts(self, name: str, made: Made) -> None:
        local = os.path.join(self.scratch, f"{name}-alerts.jsonl")
        found = self.db.cursor().execute("SELECT doc FROM line WHERE event = 'alert' ORDER BY n")
        with open(local, "w", encoding="utf-8") as out:
            while rows := found.fetchmany(SLOW_AT_ONCE):
                out.writelines(f"{doc}\n" for (doc,) in rows)
        made.files[f"alerts/{name}.jsonl"] = local


def in_two(number: int, doc: str) -> tuple[int, str, str | None]:
    """A record that does not fit: what its columns hold, and the rest."""
    known, rest = schema.split(schema.eve(), json.loads(doc))
    return number, json.dumps(known), None if rest is None else json.dumps(rest)


def record_of(event: str, columns: dict[str, Any]) -> dict[str, Any]:
    """The record of a row of Parquet, without members that are null."""
    kinds = schema.eve()
    known = {key: schema.value_of(kinds[key], columns[key])
             for key in columns if key in kinds and columns[key] is not None}
    if "event_type" not in known:
        known["event_type"] = event
    rest = columns.get("fleet_rest")
    whole: dict[str, Any] = schema.merge(
        known, schema.without_null(json.loads(rest)) if rest else None)
    return whole


def same(record: dict[str, Any], line: str) -> bool:
    """Whether a record that was rebuilt is what the line says."""
    return bool(record == schema.without_null(json.loads(line)))


def lines_of(paths: Iterable[str]) -> str:
    """The table function of DuckDB that reads the lines of EVE files."""
    names = ", ".join(text(p) for p in paths)
    return f"read_ndjson_objects([{names}], maximum_object_size = {LINE_MAX})"
