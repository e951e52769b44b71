# SPDX-License-Identifier: GPL-2.0-or-later
"""What a container image has: this Python with what ids-fleet needs, the engine, and their
libraries, in an archive for `podman import`. No registry is asked."""

import importlib.metadata
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
from pathlib import Path

from packaging.requirements import Requirement

import ids_fleet

LIBRARIES = "usr/lib/x86_64-linux-gnu"
PYTHON = f"usr/local/lib/python{sys.version_info.major}.{sys.version_info.minor}"
LEFT_OUT = re.compile(
    r"(^|/)(site-packages|test|tests|idlelib|tkinter|config-[^/]*|__pycache__)(/|$)")
LDD_AT_ONCE = 50


def needed(*names):
    """The distributions that are needed, with those that they need, as far as they are here."""
    found, todo = {}, [Requirement(name) for name in names]
    while todo:
        wanted = todo.pop()
        if (wanted.name, str(wanted.extras)) in found:
            continue
        try:
            here = importlib.metadata.distribution(wanted.name)
        except importlib.metadata.PackageNotFoundError:
            continue
        found[wanted.name, str(wanted.extras)] = here
        todo += [r for r in map(Requirement, here.requires or []) if r.marker is None or any(
            r.marker.evaluate({"extra": extra}) for extra in wanted.extras or {""})]
    return found.values()


def files(engine):
    """Path here and name in the image of all files but libraries."""
    yield os.path.realpath(sys.executable), "usr/local/bin/python"
    yield engine, "usr/bin/ids"
    standard = Path(sysconfig.get_path("stdlib"))
    for path in standard.rglob("*"):
        if path.is_file() and not LEFT_OUT.search(str(path.relative_to(standard))):
            yield str(path), f"{PYTHON}/{path.relative_to(standard)}"
    for distribution in needed("ray", "pyarrow", "fsspec", "duckdb", "tqdm"):
        for name in distribution.files or []:
            path = distribution.locate_file(name)
            if ".." not in name.parts and path.is_file() and "__pycache__" not in name.parts:
                yield str(path), f"{PYTHON}/site-packages/{name}"
    own = Path(ids_fleet.__file__).parent
    for path in own.iterdir():
        if path.is_file():
            yield str(path), f"{PYTHON}/site-packages/ids_fleet/{path.name}"


def libraries(programs):
    """Path here and name in the image of what programs and libraries are linked to."""
    found = {}
    for at in range(0, len(programs), LDD_AT_ONCE):
        said = subprocess.run(["ldd", *programs[at:at + LDD_AT_ONCE]], capture_output=True,
                              text=True, check=False).stdout
        found |= {f"{LIBRARIES}/{name}": path
                  for name, path in re.findall(r"^\s+([^/\s]+) => (/\S+) ", said, re.M)}
        found |= {path.lstrip("/"): path for path in re.findall(r"^\s+(/\S+/ld-\S+) ", said, re.M)}
    return found.items()


def pack(engine, target):
    """Writes the archive."""
    programs = []
    with tarfile.open(target, "w", dereference=True) as tar:
        for path, name in files(engine):
            tar.add(path, name)
            if ".so" in name or "/bin/" in name:
                programs.append(path)
        inside = {os.path.basename(path) for path in programs}
        for name, path in libraries(programs):
            if os.path.basename(name) not in inside:
                tar.add(os.path.realpath(path), name)
        for kind, name, link in ((tarfile.DIRTYPE, "tmp", ""), (tarfile.SYMTYPE, "lib", "usr/lib")):
            about = tarfile.TarInfo(name)
            about.type, about.linkname, about.mode = kind, link, 0o1777
            tar.addfile(about)
