# SPDX-License-Identifier: GPL-2.0-or-later
"""Records of live sensors, from Kafka to the Parquet that ids-fleet makes: a job for Spark.

    spark-submit --packages org.apache.spark:spark-sql-kafka-0-10_2.13:4.0.0 kafka_to_parquet.py
        --brokers HOST:PORT,... --topics ids --out PATH_OR_URL [--once]

Each record is stored exactly once, whatever is killed. Spark's checkpoint names the offsets of a
batch before the batch begins, so a batch that runs again has the same records. The names of its
files come from these offsets, so they replace those of the first try. The batch counts when its
file in _fleet/done is there, which is written last. `fleet_group` is TOPIC/PARTITION/OFFSET, and
the record's own offset is this one plus `fleet_line` less one."""

import argparse
import base64
import json
import os
import shutil
import sys
import tempfile
import time
import uuid
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from ids_fleet import records, results
from ids_fleet.errors import FleetError
from ids_fleet.store import Store

CHECKPOINT = "_fleet/checkpoint"
VALUE_MAX = records.LINE_MAX // 2       # bytes; in Base64 they still fit a line
DIGITS_MAX = 300
DEPTH_MAX = 64
FIELDS = ("topic", "partition", "offset", "value")
STORED = ("grp string, first long, records long, alerts long, refused long, size long, "
          "files array<string>")


def whole_number(digits: str) -> int:
    """An integer that a double can hold, as the reader of JSON wants it. Raises ValueError."""
    if len(digits) > DIGITS_MAX:
        raise ValueError("the number is too long")
    return int(digits)


def depth(value: Any) -> int:
    """How many objects and lists are in each other. Raises RecursionError."""
    if isinstance(value, dict):
        return 1 + max(map(depth, value.values()), default=0)
    return 1 + max(map(depth, value), default=0) if isinstance(value, list) else 0


def is_record(value: bytes) -> bool:
    """Whether all readers of JSON take this as an object. Python takes more than they do: writing
    the value again finds what is no number and no UTF-8."""
    try:
        found = json.loads(value.decode(), parse_int=whole_number)
        json.dumps(found, ensure_ascii=False, allow_nan=False).encode()
        return isinstance(found, dict) and depth(found) <= DEPTH_MAX
    except (ValueError, RecursionError):
        return False


def line_of(value: bytes | None) -> tuple[bytes, bool]:
    """A message as the line of a record, and whether it is one. Anyone may write to a topic, and
    what is no record must not stop the job: it is kept as a record of the type `other`."""
    if value is not None and len(value) <= VALUE_MAX and is_record(value):
        return value.replace(b"\r", b" ").replace(b"\n", b" "), True
    kept = None if value is None else base64.b64encode(value[:VALUE_MAX]).decode()
    return json.dumps({"event_type": "other", "fleet_refused": kept}).encode(), False


class Range:
    """Messages of one partition of a topic whose offsets follow each other without a gap."""

    def __init__(self, topic: str, partition: int, first: int, folder: str) -> None:
        """Opens a local file for the lines."""
        self.topic, self.partition, self.first = topic, partition, first
        self.next = first
        self.size = self.refused = 0
        self.path = os.path.join(folder, f"{topic}-{partition}-{first}.eve")
        self.out = open(self.path, "wb")

    def takes(self, topic: str, partition: int, offset: int) -> bool:
        """Whether this message is the next one."""
        return (topic, partition, offset) == (self.topic, self.partition, self.next)

    def add(self, value: bytes | None) -> None:
        """Writes the next message."""
        line, taken = line_of(value)
        self.out.write(line + b"\n")
        self.next += 1
        self.size += len(line)
        self.refused += not taken

    @property
    def group(self) -> str:
        """Names the first message."""
        return f"{self.topic}/{self.partition}/{self.first}"


def ranges(batches: Iterable[pa.RecordBatch], folder: str) -> Iterator[Range]:
    """The messages of a Spark partition, in files. Raises OSError."""
    current: Range | None = None
    for batch in batches:
        for topic, partition, offset, value in zip(
                *(batch.column(name).to_pylist() for name in FIELDS), strict=True):
            if current is None or not current.takes(topic, partition, offset):
                if current is not None:
                    current.out.close()
                    yield current
                current = Range(topic, partition, offset, folder)
            current.add(value)
    if current is not None:
        current.out.close()
        yield current


class Writer:
    """What Spark sends to its workers: it makes Parquet of one Spark partition."""

    def __init__(self, out: str, task: str) -> None:
        """`out` is the place of results."""
        self.out, self.task = out, task

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Stores the records and yields a row for each range. Raises OSError, StoreError."""
        scratch = tempfile.mkdtemp(prefix="ids-streaming-")
        try:
            converter = records.Converter(scratch)
            store = Store(self.out)
            rows = [self._store(part, converter, store) for part in ranges(batches, scratch)]
            if rows:
                yield pa.RecordBatch.from_pylist(rows)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    def _store(self, part: Range, converter: records.Converter, store: Store) -> dict[str, Any]:
        name = f"{self.task}.{part.topic}-{part.partition}-{part.first}"
        made = converter.convert([records.Source(part.group, part.path, [])], name)
        os.unlink(part.path)
        for target, local in made.files.items():
            store.put(local, target)
            os.unlink(local)
        return {"grp": part.group, "first": part.first, "records": made.records[part.group],
                "alerts": made.alerts[part.group], "refused": part.refused, "size": part.size,
                "files": sorted(made.files)}


class Sink:
    """Takes the batches in the driver."""

    def __init__(self, out: str, scratch: str) -> None:
        """Takes over the place of results; a job that had it before cannot commit any more.
        Raises FleetError if its checkpoint is gone: what was read is then unknown."""
        self.out, self.scratch, self.epoch = out, scratch, uuid.uuid4().hex
        self.store = Store(out)
        if self.store.exists(results.RUN) and not self.store.exists(f"{CHECKPOINT}/metadata"):
            raise FleetError(f"{out}: these results have no checkpoint of this job; "
                             "choose another place")
        self.store.write_json(results.RUN, {"epoch": self.epoch, "source": "kafka"}, scratch)

    def __call__(self, frame: DataFrame, number: int) -> None:
        """Stores a batch. Raises what stops the job; the batch then runs again after a start."""
        task = f"batch-{number:09d}"
        if results.committed(self.store, task) is not None:
            return              # the job was killed between this and the end of Spark's own commit
        started = time.time()
        rows = frame.select(*FIELDS) \
            .mapInArrow(Writer(self.out, task), STORED).collect()
        rows.sort(key=lambda row: row.grp)
        done = results.Done(task, [
            results.GroupState(row.grp, 1, row.size, row.records, row.alerts, 1, warnings=[
                f"{row.refused} messages are no records"] if row.refused else [])
            for row in rows], sorted(name for row in rows for name in row.files))
        done.started, done.seconds = started, time.time() - started
        results.commit(self.store, done, self.epoch, self.scratch)
        print(f"{task}: {sum(row.records for row in rows)} records, "
              f"{sum(row.refused for row in rows)} refused, {done.seconds:.1f} s", flush=True)


def run(args: argparse.Namespace) -> None:
    """Runs until it is stopped; with --once, until it has caught up."""
    session = SparkSession.builder.appName("ids-kafka-to-parquet").getOrCreate()
    session.sparkContext.setLogLevel("WARN")
    source = session.readStream.format("kafka") \
        .option("kafka.bootstrap.servers", args.brokers).option("subscribePattern", args.topics) \
        .option("startingOffsets", "earliest").option("maxOffsetsPerTrigger", args.at_once)
    for option in args.option:
        name, _, value = option.partition("=")
        source = source.option(name, value)
    scratch = tempfile.mkdtemp(prefix="ids-streaming-driver-")
    try:
        place = args.out if "://" in args.out else os.path.abspath(args.out)
        writer = source.load().writeStream.foreachBatch(Sink(place, scratch)) \
            .option("checkpointLocation", f"{place}/{CHECKPOINT}")
        every = 0 if args.once else args.every
        query = writer.trigger(processingTime=f"{every} seconds").start()
        if args.once:
            # Not availableNow: it refuses a batch that was begun before a topic was created.
            query.processAllAvailable()
            query.stop()
        else:
            query.awaitTermination()
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def main() -> int:
    """The command. Status 2: something was given wrongly."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--brokers", required=True)
    parser.add_argument("--topics", default="ids(-.*)?", help="a pattern of Java's")
    parser.add_argument("--out", required=True)
    parser.add_argument("--every", type=int, default=60, help="seconds from batch to batch")
    parser.add_argument("--at-once", type=int, default=1000000, help="records of a batch at most")
    parser.add_argument("--once", action="store_true", help="end when all is stored")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE",
                        help="of Spark's Kafka source, such as kafka.security.protocol=SSL")
    try:
        run(parser.parse_args())
    except FleetError as e:
        print(f"kafka_to_parquet: {e}", file=sys.stderr)
        return e.status
    return 0


if __name__ == "__main__":
    sys.exit(main())
