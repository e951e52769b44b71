# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes Parquet of EVE files, with a type for each field, and the record back from its columns.

A line is looked at only as far as its event type and digest; Arrow's reader does the rest, in
blocks of lines of one event type and day. A record that does not fit its columns goes through
Python: what no column holds becomes `fleet_rest`, as JSON."""

import hashlib
import json
import os
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ids_fleet import across, columns, schema

LINE_MAX = 16 << 20             # bytes of a record
READ_AT_ONCE = 4 << 20
BLOCK_BYTES = 16 << 20          # of one event type and day: a row group
PENDING_BYTES = 64 << 20        # of all
OPEN_MAX = 64                   # Parquet files: the days of a capture are its sender's choice
TYPE_NAME = re.compile(r"[a-z0-9_]{1,64}")
DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
DIGEST_LEN = 16
FIT_AT_ONCE = 32                # records that go through Python together
FIT_TRIES = 16                  # of them in a block, before the rest follows
# Values that hardly come twice: a dictionary of them takes time, and a quarter of a file.
UNIQUE = {"fleet_digest", "fleet_line", "time", "timestamp", "flow_id"}
# The start of a record as the engine writes it. Only plain members come before the event type, and
# the reader refuses members that come twice, so what this finds is what the record says.
START = re.compile(rb'\{"timestamp":"(\d{4}-\d{2}-\d{2})[^"\\]*"'
                   rb'(?:,"[a-z_]+":(?:[0-9]+|"[^"\\]*"))*?,"event_type":"([a-z0-9_]{1,64})"')
FIRST = [("fleet_group", pa.string()), ("fleet_line", pa.int64()),
         ("fleet_digest", pa.binary(DIGEST_LEN)), ("fleet_rest", pa.string()),
         ("time", pa.timestamp("us"))]


@dataclass
class Source:
    """The records of one group: an EVE file, or those of its bytes that are the group's.
    `replaced` are texts in its lines, such as where a capture was kept meanwhile, with what stands
    for them."""

    group: str
    path: str
    replaced: list[tuple[str, str]]
    is_share: bool = False      # of the flows in it: other engines have the rest
    start: int = 0
    end: int = sys.maxsize


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


@dataclass
class Block:
    """Lines of one event type and day that wait for the reader. `rest` is by place in `lines`;
    lines in `fitted` are from Python and fit their columns."""

    seen: columns.Seen                                  # the columns of the event type
    is_alert: bool = False
    lines: list[bytes] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    digests: list[bytes] = field(default_factory=list)
    groups: list[tuple[str, int]] = field(default_factory=list)     # from which line on
    rest: dict[int, str] = field(default_factory=dict)
    fitted: set[int] = field(default_factory=set)
    size: int = 0
    shares: set[str] = field(default_factory=set)       # groups of which the lines are a share
    group: Source | None = None                         # of the line that came last

    def begin(self, source: Source) -> None:
        """The lines that follow are of this group."""
        self.group = source
        if not self.groups or self.groups[-1][0] != source.group:
            self.groups.append((source.group, len(self.lines)))
            if source.is_share:
                self.shares.add(source.group)

    def fit(self, at: int) -> None:
        """Makes a line fit its columns, which may become more."""
        known, rest = schema.split(schema.eve(), json.loads(self.lines[at]))
        self.seen.add(known)
        self.lines[at] = schema.dump(columns.as_text(schema.eve(), known)).encode()
        self.fitted.add(at)
        if rest is not None:
            self.rest[at] = schema.dump(rest)

    def _fit_all(self, start: int, end: int, tries: int) -> int:
        """Fits the lines that the reader refuses, found by halving, and returns the tries left.
        Few kinds of records are new at a time; where there are many, all lines are fitted."""
        if end - start > FIT_AT_ONCE and tries > 0:
            middle = (start + end) // 2
            for low, high in ((start, middle), (middle, end)):
                try:
                    self.seen.read(self.lines[low:high])
                except pa.ArrowInvalid:
                    tries = self._fit_all(low, high, tries)
            return tries
        for at in range(start, end):
            if at not in self.fitted:
                self.fit(at)
        return tries - 1

    def table(self) -> pa.Table:
        """The columns of all lines, after those that say where each comes from."""
        if not self.seen.kind:                   # a few lines have most of the columns
            for at in range(0, len(self.lines), 1 + len(self.lines) // FIT_AT_ONCE):
                self.fit(at)
        try:
            found = self.seen.read(self.lines)
        except pa.ArrowInvalid:
            self._fit_all(0, len(self.lines), FIT_TRIES)
            found = self.seen.read(self.lines)
        made = dict(zip((name for name, _ in FIRST), self._first(found), strict=True))
        for key in sorted(set(found.column_names) - {"event_type"}):
            column = found[key].combine_chunks()
            if column.null_count < len(column):
                made[key] = columns.widen(column, schema.eve()[key])
        return pa.table(made)

    def _first(self, found: pa.Table) -> list[pa.Array]:
        count = len(self.lines)
        ends = [at for _, at in self.groups[1:]] + [count]
        groups = pa.concat_arrays([pa.repeat(group, end - at) for (group, at), end
                                   in zip(self.groups, ends, strict=True)])
        digests = pa.FixedSizeBinaryArray.from_buffers(
            pa.binary(DIGEST_LEN), count, [None, pa.py_buffer(b"".join(self.digests))])
        rest = pa.array([self.rest.get(at) for at in range(count)], pa.string()) if self.rest \
            else pa.nulls(count, pa.string())
        times = found["timestamp"].combine_chunks() if "timestamp" in found.column_names \
            else pa.nulls(count, pa.string())
        return [groups, pa.array(self.numbers, pa.int64()), digests, rest, times_of(times)]

    def partial(self, table: pa.Table, sids: frozenset[int]) -> pa.Array:
        """For alerts: whether the rule saw only a share of the flows that it counts."""
        is_share = pc.is_in(table["fleet_group"].combine_chunks(),
                            value_set=pa.array(sorted(self.shares)))
        if across.ALL in sids or "alert" not in table.column_names:
            return is_share
        rules = pc.struct_field(table["alert"].combine_chunks(), "signature_id")
        return pc.and_(is_share, pc.is_in(rules, value_set=pa.array(sorted(sids), pa.int64())))


def times_of(texts: pa.Array) -> pa.Array:
    """The times of timestamps, in UTC; null for what is no time."""
    try:
        return pc.cast(pc.cast(texts, pa.timestamp("us", "UTC")), pa.timestamp("us"))
    except pa.ArrowInvalid:
        if len(texts) == 1:
            return pa.nulls(1, pa.timestamp("us"))
        half = len(texts) // 2
        return pa.concat_arrays([times_of(texts[:half]), times_of(texts[half:])])


class Target:
    """The Parquet of one event type and day. A file has the columns of its first block; another
    begins when a block has more."""

    def __init__(self, folder: str, name: str, event: str, date: str) -> None:
        """Writes into a local folder."""
        self.folder, self.name, self.event, self.date = folder, name, event, date
        self.writer: Any = None
        self.parts = 0
        self.files: dict[str, str] = {}

    def write(self, table: pa.Table, is_last: bool) -> None:
        """Writes a row group. Raises OSError.

        Most leaves of a table have no value. If no other row group follows, they get no compressor
        and no dictionary: to begin these for each of them takes half of the time of a small
        file."""
        if self.writer is not None and set(table.column_names) <= set(self.writer.schema.names):
            missing = {f.name: pa.nulls(len(table), f.type) for f in self.writer.schema
                       if f.name not in table.column_names}
            for name, column in missing.items():
                table = table.append_column(name, column)
            self.writer.write_table(table.select(self.writer.schema.names))
            return
        self.close()
        part = f".{self.parts}" if self.parts else ""
        self.parts += 1
        local = os.path.join(self.folder, f"{self.name}-{self.event}-{self.date}{part}.parquet")
        self.files[f"events/event_type={self.event}/date={self.date}/{self.name}{part}.parquet"] \
            = local
        leaves = [leaf for name in table.column_names for chunk in table[name].chunks
                  for leaf in columns.used(chunk, name)] if is_last else None
        repeated = [leaf for leaf in leaves if leaf not in UNIQUE] if leaves is not None else True
        self.writer = pq.ParquetWriter(
            local, table.schema, use_dictionary=repeated,
            compression="zstd" if leaves is None else dict.fromkeys(leaves, "zstd"))
        self.writer.write_table(table)

    def close(self) -> None:
        """Ends the file. Raises OSError."""
        if self.writer is not None:
            self.writer.close()
            self.writer = None


def lines_in(file: BinaryIO, source: Source) -> Iterator[bytes]:
    """The lines of a group in an EVE file, with texts replaced. Raises ValueError if one is too
    long."""
    pairs = [(old.encode(), new.encode()) for old, new in source.replaced]
    rest, at = b"", source.start
    file.seek(at)
    while data := file.read(min(READ_AT_ONCE, source.end - at)):
        at += len(data)
        whole, newline, tail = data.rpartition(b"\n")
        if not newline:
            rest += tail
        else:
            whole, rest = rest + whole, tail
            if not whole.isascii():
                whole.decode()              # the reader takes bytes that are no UTF-8
            for old, new in pairs:
                whole = whole.replace(old, new)
            yield from whole.split(b"\n")
        if len(rest) > LINE_MAX:
            raise ValueError(f"{source.path}: a line has more than {LINE_MAX} bytes")
    rest.decode()
    for old, new in pairs:
        rest = rest.replace(old, new)
    yield rest


def place_of(line: bytes) -> tuple[str, str]:
    """Event type and date of a record. Raises ValueError if the line is none."""
    record = json.loads(line)
    if not isinstance(record, dict):
        raise ValueError(f"no record: {line[:80]!r}")
    event, stamp = record.get("event_type"), str(record.get("timestamp"))[:10]
    known = isinstance(event, str) and TYPE_NAME.fullmatch(event)
    return str(event) if known else "other", stamp if DATE.fullmatch(stamp) else "1970-01-01"


class Conversion:
    """The files of one task in work."""

    def __init__(self, converter: "Converter", name: str, made: Made) -> None:
        """What the converter has seen is kept from one task to the next, by event type."""
        self.folder, self.name, self.made = converter.scratch, name, made
        self.seen, self.across = converter.seen, converter.across
        self.blocks: dict[tuple[str, str], Block] = {}
        self.starts: dict[tuple[bytes, ...], Block] = {}    # by date and event type of lines
        self.targets: dict[tuple[str, str], Target] = {}
        self.size = 0
        self.alerts = os.path.join(self.folder, f"{name}-alerts.jsonl")

    def add(self, source: Source, file: BinaryIO, alerts: Any) -> None:
        """Takes all lines of a group. Raises ValueError if one is no record, OSError.

        Of the processor time of a record half goes here, so what the loop calls for each line is
        little: the block of lines that start alike is found by what they start with."""
        count = alert_count = 0
        match, blocks = START.match, self.starts
        empty = hashlib.md5(usedforsecurity=False).copy     # a new one costs half as much again
        for number, line in enumerate(lines_in(file, source), 1):
            if not line:
                continue
            count += 1
            start = match(line)
            block = blocks.get(start.groups()) if start else None
            if block is None:
                block = self._block(line, start)
            if block.group is not source:
                block.begin(source)
            block.lines.append(line)
            block.numbers.append(number)
            digest = empty()
            digest.update(line)
            block.digests.append(digest.digest())
            block.size += len(line)
            self.size += len(line)
            if start is None or (block.seen.marks and block.seen.is_marked(line)):
                block.fit(len(block.lines) - 1)
            if block.is_alert:
                alerts.write(line + b"\n")
                alert_count += 1
            if block.size > BLOCK_BYTES or self.size > PENDING_BYTES:
                self.flush()
        self.made.alerts[source.group] += alert_count
        self.made.records[source.group] += count

    def _block(self, line: bytes, start: "re.Match[bytes] | None") -> Block:
        """The block of a line's event type and date, which may be new."""
        place = (start[2].decode(), start[1].decode()) if start else place_of(line)
        block = self.blocks.get(place)
        if block is None:
            seen = self.seen.setdefault(place[0], columns.Seen())
            block = self.blocks[place] = Block(seen, is_alert=place[0] == "alert")
        if start:
            self.starts[start.groups()] = block
        return block

    def flush(self, is_last: bool = False) -> None:
        """Writes all blocks. `is_last`: no others follow."""
        for key, block in sorted(self.blocks.items()):
            if key not in self.targets:
                self.targets[key] = Target(self.folder, self.name, *key)
            table = block.table()
            if block.shares and block.is_alert:
                table = table.append_column("fleet_partial", block.partial(table, self.across))
            self.targets[key].write(table, is_last)
        is_many = sum(t.writer is not None for t in self.targets.values()) > OPEN_MAX
        if is_many:
            self.close()
        self.blocks.clear()
        self.starts.clear()
        self.size = 0

    def close(self) -> None:
        """Ends all files."""
        for target in self.targets.values():
            target.close()


class Converter:
    """Converts task after task, and keeps what it has seen of the records."""

    def __init__(self, scratch: str, across_flows: frozenset[int] = frozenset()) -> None:
        """`scratch` is a local folder for the files, `across_flows` the rules whose alerts are
        marked in groups of which an engine had a share."""
        self.across = across_flows
        self.scratch = scratch
        os.makedirs(scratch, exist_ok=True)
        self.seen: dict[str, columns.Seen] = {}

    def convert(self, sources: list[Source], name: str) -> Made:
        """Writes files called `name` below the scratch folder: Parquet by event type and date, and
        alerts as they are. Raises ValueError if a line is no record, OSError."""
        made = Made({}, {s.group: 0 for s in sources}, {s.group: 0 for s in sources})
        work = Conversion(self, name, made)
        try:
            with open(work.alerts, "wb") as alerts:
                for path, of_file in groupby(sources, key=lambda source: source.path):
                    with open(path, "rb", buffering=0) as file:
                        for source in of_file:
                            work.add(source, file, alerts)
                work.flush(is_last=True)
        finally:
            work.close()
        for target in work.targets.values():
            made.files |= target.files
        if any(made.alerts.values()):
            made.files[f"alerts/{name}.jsonl"] = work.alerts
        else:
            os.unlink(work.alerts)
        return made


def record_of(event: str, row: dict[str, Any]) -> dict[str, Any]:
    """The record of a row of Parquet, without members that are null."""
    kinds = schema.eve()
    known = {key: schema.value_of(kinds[key], row[key])
             for key in row if key in kinds and row[key] is not None}
    if "event_type" not in known:
        known["event_type"] = event
    rest = row.get("fleet_rest")
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
