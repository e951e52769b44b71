# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds captures: files, folders, patterns, and manifests with a line for each.

All of it streams: a folder is read a directory at a time, a manifest a line at a time."""

import gzip
import re
import zlib
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import Any

import fsspec
from fsspec.utils import glob_translate

from ids_fleet.errors import FleetError, StoreError
from ids_fleet.store import as_own, is_local, one_line, retry, split_url, walk

NAMES = r"pcap|\.(cap|dmp|dump)(\.[a-z0-9]+)?$"     # of files in folders
MAGIC = re.compile(r"[*?\[]")
STAT_AT_ONCE = 16
STAT_BATCH = 512
SENSOR, SIZE, TIME = 1, 2, 3                        # columns of a manifest, after the URL


def pattern_of(option: str, text: str, groups: int = 0) -> re.Pattern[str]:
    """The regular expression of an option. Raises FleetError if it is none, or has fewer groups."""
    try:
        pattern = re.compile(text)
    except re.error as e:
        raise FleetError(f"{option}: {text!r}: {e}") from e
    if pattern.groups < groups:
        raise FleetError(f"{option}: {text!r} has no group: put ( ) around the name")
    return pattern


@dataclass(frozen=True)
class Capture:
    """A capture file. `changed` is in nanoseconds since 1970, 0 if the store does not say."""

    url: str
    size: int
    changed: int
    sensor: str = ""

    @property
    def folder(self) -> str:
        """The URL of its folder."""
        return self.url.rsplit("/", 1)[0]


def changed_ns(info: dict[str, Any]) -> int:
    """When a file was changed, from what fsspec says of it; nanoseconds, 0: unknown."""
    for key in ("mtime", "LastModified", "last_modified", "updated", "modified"):
        when = info.get(key)
        if isinstance(when, (int, float)):
            return int(when * 1_000_000_000)
        if when is not None and hasattr(when, "timestamp"):
            return int(when.timestamp() * 1_000_000_000)
    return 0


def full_url(fs: Any, path: str) -> str:
    """The URL of a path: a plain path on the local file system."""
    return path if is_local(fs) else str(fs.unstrip_protocol(path))


def _below(fs: Any, root: str, wanted: re.Pattern[str]) -> Iterator[Capture]:
    """The captures in a folder and those below it; the first folder below is the sensor."""
    for base, files in walk(fs, root):
        inner = base[len(root):].strip("/")
        for name, info in files.items():
            if wanted.search(name):
                yield Capture(full_url(fs, f"{base.rstrip('/')}/{name}"), int(info["size"]),
                              changed_ns(info), inner.split("/")[0])


def _matching(fs: Any, pattern: str) -> Iterator[Capture]:
    """The files that a pattern fits, found by a walk from its last folder without one."""
    magic = MAGIC.search(pattern)
    root = pattern[:magic.start() if magic else len(pattern)].rsplit("/", 1)[0]
    fits = re.compile(glob_translate(pattern))
    for base, files in walk(fs, root):
        inner = base[len(root):].strip("/")
        for info in files.values():
            if fits.match(str(info["name"])):
                yield Capture(full_url(fs, str(info["name"])), int(info["size"]),
                              changed_ns(info), inner.split("/")[0])


def _stat(url: str, sensor: str = "") -> Capture:
    fs, path = split_url(url)
    info = retry(url, lambda: fs.info(path))
    if info.get("type") == "directory":
        raise FleetError(f"{url}: a folder where a manifest should name a file")
    return Capture(full_url(fs, path), int(info["size"]), changed_ns(info), sensor)


def _line(line: str) -> Capture:
    fields = line.split("\t")
    sensor = fields[SENSOR] if len(fields) > SENSOR else ""
    if len(fields) <= SIZE:
        return _stat(fields[0], sensor)
    try:
        changed = int(float(fields[TIME]) * 1_000_000_000) if len(fields) > TIME else 0
        return Capture(fields[0], int(fields[SIZE]), changed, sensor)
    except ValueError as e:
        raise FleetError(f"manifest: {line!r}: size and time are not numbers") from e


def manifest(url: str) -> Iterator[Capture]:
    """The captures of a manifest, gzip or plain. A line has the URL and, after tabs, what is known
    of sensor, size in bytes and time of change in seconds since 1970. Where the size is missing,
    the store is asked, for some files at once. Raises FleetError, OSError."""
    with fsspec.open(url, "rt", compression="infer", encoding="utf-8") as f, \
            ThreadPoolExecutor(STAT_AT_ONCE) as pool:
        lines = (line.rstrip("\r\n") for line in f)
        wanted = (line for line in lines if line and not line.startswith("#"))
        while batch := list(islice(wanted, STAT_BATCH)):
            yield from pool.map(_line, batch)


def find(sources: Iterable[str], names: str = NAMES) -> Iterator[Capture]:
    """The captures of files, folders, patterns, and manifests (@URL).

    `names` is the pattern that names of files in folders fit. Raises FleetError if a source does
    not exist or a manifest is wrong, StoreError if a store does not answer."""
    wanted = pattern_of("--names", names)
    for source in sources:
        try:
            if source.startswith("@"):
                yield from manifest(source[1:])
                continue
            fs, path = split_url(source)
            if MAGIC.search(path):
                yield from _matching(fs, path)
            elif retry(source, lambda fs=fs, path=path: fs.isdir(path)):  # type: ignore[misc]
                yield from _below(fs, path.rstrip("/"), wanted)
            else:
                yield _stat(source)
        except (gzip.BadGzipFile, EOFError, UnicodeDecodeError, zlib.error) as e:
            raise FleetError(f"{source}: {one_line(e)}") from e
        except Exception as e:
            own = as_own(source, e)
            if isinstance(own, ConnectionError):
                raise StoreError(f"{source}: {own}") from e
            if isinstance(own, OSError):
                raise FleetError(f"{source}: {one_line(own)}") from e
            raise own from e
