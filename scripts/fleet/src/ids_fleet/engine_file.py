# SPDX-License-Identifier: GPL-2.0-or-later
"""Which engine a run has: by the content of its file, wherever that comes from.

It is a path on each machine, a file or Debian package that goes along with the run, or what a
container image has."""

import hashlib
import os
import shutil
import subprocess

from ids_fleet.errors import EngineError

PACKAGE = b"!<arch>\n"          # a Debian package begins so
PROGRAM = "usr/bin/ids"         # in a package
READ_AT_ONCE = 1 << 20
UNPACK_S = 300.0


def path_of(name: str) -> str:
    """Where a program is: a path, or a name that PATH finds. "": not on this machine."""
    found = shutil.which(name)
    return os.path.abspath(found) if found else ""


def file_hash(path: str) -> str:
    """SHA-256 of a file, in hex digits. Raises OSError."""
    digest = hashlib.sha256()
    with open(path, "rb") as f:
        while data := f.read(READ_AT_ONCE):
            digest.update(data)
    return digest.hexdigest()


def place(content: bytes, folder: str) -> str:
    """Puts an engine into a folder that does not exist yet, and returns its path. `content` is a
    program or a package with one. Raises EngineError, OSError."""
    os.makedirs(folder)
    path = os.path.join(folder, "ids")
    with open(path, "wb") as f:
        f.write(content)
    if not content.startswith(PACKAGE):
        os.chmod(path, 0o755)
        return path
    package = f"{path}.deb"
    os.rename(path, package)
    try:
        done = subprocess.run(["dpkg-deb", "-x", package, folder], capture_output=True, text=True,
                              check=False, timeout=UNPACK_S)
    except (OSError, subprocess.TimeoutExpired) as e:
        raise EngineError(f"the package of the engine: {e}") from e
    os.unlink(package)
    program = os.path.join(folder, PROGRAM)
    if done.returncode != 0 or not os.access(program, os.X_OK):
        raise EngineError("the package of the engine: "
                          + (done.stderr.strip() or f"it has no {PROGRAM}"))
    return program
