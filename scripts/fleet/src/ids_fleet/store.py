# SPDX-License-Identifier: GPL-2.0-or-later
"""A place for results: a folder, or whatever fsspec opens.

A file appears under its name when it is whole, or not at all. On a local disk it is written aside
and renamed. An object store completes an upload as one step. Other file systems get the file under
another name first.

File systems of fsspec raise errors of their own: those of botocore are no OSError, and cannot be
sent to another process. Here they become OSError, StoreError or FleetError."""

import errno
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import fsspec

from ids_fleet.errors import FleetError, StoreError

T = TypeVar("T")

TRIES = 4
FIRST_WAIT_S = 0.2
OBJECT_STORES = {"s3", "s3a", "gs", "gcs", "abfs", "az", "adl", "oss", "memory"}
FINAL = (FileNotFoundError, PermissionError, FileExistsError, IsADirectoryError, NotADirectoryError)
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EROFS}
HTTP_REFUSED = range(400, 500)      # the request is wrong, and stays wrong
HTTP_LATER = {408, 425, 429}        # but for these


def http_status(error: BaseException | None) -> int:
    """The status of HTTP with which a store has answered; 0: the error does not say."""
    while error is not None:
        response = getattr(error, "response", None)
        if isinstance(response, dict):
            return int(response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
        error = error.__cause__
    return 0


def one_line(error: BaseException) -> str:
    """What an error says, without line breaks; its name if it says nothing."""
    return " ".join(str(error).split()) or type(error).__name__


def as_own(what: str, error: Exception) -> Exception:
    """The error of a file system as one of ours.

    FleetError: the setup is wrong, such as missing credentials. StoreError: the disk is full.
    ConnectionError: the store did not answer, or could not. Other errors are returned as they are:
    those of the file, and those of the program."""
    if isinstance(error, (FleetError, *FINAL)):
        return error
    if isinstance(error, OSError) and error.errno in FULL:
        return StoreError(f"{what}: {os.strerror(error.errno or 0)}")
    if "Credential" in type(error).__name__:
        return FleetError(f"{what}: {one_line(error)}")
    status = http_status(error)
    if status in HTTP_REFUSED and status not in HTTP_LATER:
        return OSError(errno.EIO, one_line(error))
    if isinstance(error, OSError | EOFError) or type(error).__module__ != "builtins":
        return ConnectionError(one_line(error))
    return error


def retry(what: str, action: Callable[[], T]) -> T:
    """Returns what action() returns; if the store does not answer, it is called again.

    Raises OSError if another try is of no use, such as a missing file. Raises StoreError if the
    disk is full or the store has not answered after TRIES, FleetError if the setup is wrong."""
    for left in range(TRIES - 1, -1, -1):
        try:
            return action()
        except Exception as e:
            own = as_own(what, e)
            if own is e:
                raise
            if not isinstance(own, ConnectionError):
                raise own from e
            if left == 0:
                raise StoreError(f"{what}: {own} (tried {TRIES} times)") from e
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
    """The file system of a URL, and the path there; a path without a scheme is made absolute.

    Raises FleetError if the scheme is unknown or its package is missing."""
    try:
        fs, path = fsspec.core.url_to_fs(url)
    except (ImportError, ValueError) as e:
        raise FleetError(f"{url}: {one_line(e)}") from e
    return fs, str(path)


def read_file(url: str) -> bytes:
    """The content of a small file. Raises OSError, StoreError, FleetError."""
    fs, path = split_url(url)
    return bytes(retry(url, lambda: fs.cat_file(path)))


def walk(fs: Any, root: str) -> Iterator[tuple[str, dict[str, dict[str, Any]]]]:
    """The folders from `root` on, each with what fsspec says of its files by name.

    A folder at a time is in memory. One that is not there has no files. Raises OSError, StoreError
    where the walk of fsspec leaves a folder out."""
    folders = [root]
    while folders:
        base = folders.pop()
        try:
            listed = retry(base, lambda base=base: fs.ls(base, detail=True))  # type: ignore[misc]
        except FileNotFoundError:
            continue
        files, inner = {}, []
        for info in listed:
            path = str(info["name"]).rstrip("/")
            if path == base.rstrip("/"):
                continue                        # S3: the mark of an empty folder
            if info["type"] == "directory":
                inner.append(path)
            elif info["type"] == "file":
                files[path.rsplit("/", 1)[-1]] = info
        yield base, dict(sorted(files.items()))
        folders += sorted(inner, reverse=True)


class Store:
    """The files below one URL. All names are relative to it, with / between folders. What it does
    raises StoreError if the place refuses, or does not answer."""

    def __init__(self, url: str) -> None:
        """Opens it; nothing is created until something is written. Raises FleetError."""
        self.url = url.rstrip("/")
        self.fs, self.root = split_url(self.url)
        self.root = self.root.rstrip("/")

    def path(self, name: str) -> str:
        """The path of a name, as the file system wants it."""
        return f"{self.root}/{name}" if name else self.root

    def _do(self, name: str, action: Callable[[], T]) -> T:
        what = f"{self.url}/{name}"
        try:
            return retry(what, action)
        except OSError as e:
            raise StoreError(f"{what}: {e.strerror or one_line(e)}") from e

    def put(self, local: str, name: str) -> None:
        """Copies a local file to a name, which appears when it is whole."""
        self._do(name, lambda: self._put(local, self.path(name)))

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
        """The value of a JSON file. Raises FileNotFoundError too, and FleetError if it has none."""
        def read() -> bytes | None:
            try:
                return bytes(self.fs.cat_file(self.path(name)))
            except FileNotFoundError:
                return None
        text = self._do(name, read)
        if text is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), f"{self.url}/{name}")
        try:
            return json.loads(text)
        except ValueError as e:
            raise FleetError(f"{self.url}/{name}: {e}") from e

    def exists(self, name: str) -> bool:
        """Whether there is a file of this name."""
        return bool(self._do(name, lambda: self.fs.exists(self.path(name))))

    def names(self, folder: str, suffix: str = "") -> Iterator[str]:
        """The files below a folder whose names end so, a directory at a time."""
        self.fs.invalidate_cache()
        try:
            for base, files in walk(self.fs, self.path(folder)):
                inner = base[len(self.root):].strip("/")
                yield from (f"{inner}/{file}" for file in files if file.endswith(suffix))
        except OSError as e:
            raise StoreError(f"{self.url}/{folder}: {e.strerror or one_line(e)}") from e

    def remove(self, name: str) -> None:
        """Removes a file; one that is not there is no error."""
        def rm() -> None:
            try:
                self.fs.rm_file(self.path(name))
            except FileNotFoundError:
                pass
        self._do(name, rm)
