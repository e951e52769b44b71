# SPDX-License-Identifier: GPL-2.0-or-later
"""A place for results: a folder, or whatever fsspec opens.

A file appears under its name when it is whole, or not at all. On a local disk it is written aside
and renamed. An object store completes an upload as one step. Other file systems get the file under
another name first."""

import errno
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import fsspec

from ids_fleet.errors import StoreError

T = TypeVar("T")

TRIES = 4
FIRST_WAIT_S = 0.2
OBJECT_STORES = {"s3", "s3a", "gs", "gcs", "abfs", "az", "adl", "oss", "memory"}
FINAL = (FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError)
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EROFS}


def retry(what: str, action: Callable[[], T]) -> T:
    """Returns what action() returns; after an OSError of the network it is called again.

    Raises the error itself if another try is of no use, such as a missing file, StoreError if the
    disk is full, and the last error after TRIES."""
    for left in range(TRIES - 1, -1, -1):
        try:
            return action()
        except FINAL:
            raise
        except (OSError, TimeoutError) as e:
            if isinstance(e, OSError) and e.errno in FULL:
                raise StoreError(f"{what}: {os.strerror(e.errno or 0)}") from e
            if left == 0:
                raise
            time.sleep(FIRST_WAIT_S * 2 ** (TRIES - 1 - left))
    raise AssertionError("unreachable")


def protocol(fs: Any) -> str:
    """The first name of a file system: "file", "s3"."""
    name = fs.protocol
    return str(name if isinstance(name, str) else name[0])


def is_local(fs: Any) -> bool:
    """Whether paths of the file system are paths of this machine."""
    return protocol(fs) in ("file", "local")


def local_path(url: str) -> str | None:
    """The path of a URL without a scheme; None: only fsspec knows what it is."""
    return None if "://" in url or "::" in url else os.path.abspath(url)


def split_url(url: str) -> tuple[Any, str]:
    """The file system of a URL, and the path there; a path without a scheme is made absolute."""
    fs, path = fsspec.core.url_to_fs(url)
    return fs, str(path)


class Store:
    """The files below one URL. All names are relative to it, with / between folders."""

    def __init__(self, url: str) -> None:
        """Opens it; nothing is created until something is written."""
        self.url = url.rstrip("/")
        self.fs, self.root = split_url(self.url)
        self.root = self.root.rstrip("/")

    def path(self, name: str) -> str:
        """The path of a name, as the file system wants it."""
        return f"{self.root}/{name}" if name else self.root

    def put(self, local: str, name: str) -> None:
        """Copies a local file to a name, which appears when it is whole.

        Raises OSError, StoreError."""
        retry(f"{self.url}/{name}", lambda: self._put(local, self.path(name)))

    def _put(self, local: str, path: str) -> None:
        if protocol(self.fs) in OBJECT_STORES:
            self.fs.put_file(local, path)
            return
        aside = f"{path}.{os.getpid()}.part"
        self.fs.makedirs(path.rsplit("/", 1)[0], exist_ok=True)
        try:
            if is_local(self.fs):
                shutil.copyfile(local, aside)
                with open(aside, "rb") as f:
                    os.fsync(f.fileno())
                os.replace(aside, path)
            else:
                self.fs.put_file(local, aside)
                self.fs.mv(aside, path)
        except BaseException:
            if self.fs.exists(aside):
                self.fs.rm_file(aside)
            raise

    def write_json(self, name: str, value: Any, scratch: str) -> None:
        """Writes a value as JSON, by way of a file in the local folder `scratch`."""
        local = os.path.join(scratch, f"json-{os.getpid()}")
        with open(local, "w", encoding="utf-8") as f:
            f.write(json.dumps(value, separators=(",", ":"), sort_keys=True))
        self.put(local, name)
        os.unlink(local)

    def read_json(self, name: str) -> Any:
        """The value of a JSON file. Raises FileNotFoundError, ValueError."""
        return json.loads(retry(name, lambda: self.fs.cat_file(self.path(name))))

    def exists(self, name: str) -> bool:
        """Whether there is a file of this name."""
        return bool(retry(name, lambda: self.fs.exists(self.path(name))))

    def names(self, folder: str, suffix: str = "") -> Iterator[str]:
        """The files below a folder whose names end so, a directory at a time."""
        self.fs.invalidate_cache()
        for base, _, files in self.fs.walk(self.path(folder)):
            inner = str(base)[len(self.root):].strip("/")
            for file in sorted(files):
                if file.endswith(suffix):
                    yield f"{inner}/{file}"

    def remove(self, name: str) -> None:
        """Removes a file; one that is not there is no error."""
        try:
            self.fs.rm_file(self.path(name))
        except FileNotFoundError:
            pass
