# SPDX-License-Identifier: GPL-2.0-or-later
"""The engine of a run: a path, a file that goes along, a package, an image."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import binary, fleet, write
from ray.runtime_env import RuntimeEnv

from ids_fleet import cli, driver, engine_file, results
from ids_fleet.errors import EngineError, FleetError
from ids_fleet.store import Store
from ids_fleet.worker import Worker


def package(folder, program):
    """A Debian package with this program, or without one."""
    tree = folder / "tree"
    (tree / "DEBIAN").mkdir(parents=True)
    (tree / "DEBIAN/control").write_text("Package: ids\nVersion: 1\nArchitecture: all\n"
                                         "Maintainer: none <none@example.com>\nDescription: none\n")
    if program:
        (tree / "usr/bin").mkdir(parents=True)
        shutil.copy(program, tree / "usr/bin/ids")
    subprocess.run(["dpkg-deb", "-b", "-Znone", tree, folder / "ids.deb"], check=True,
                   capture_output=True)
    return folder / "ids.deb"


def test_a_program_and_a_package_are_the_same_engine(tmp_path):
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    expected = engine_file.file_hash(str(program))
    for number, file in enumerate([program, package(tmp_path, program)]):
        placed = engine_file.place(file.read_bytes(), str(tmp_path / f"at-{number}"))
        assert engine_file.file_hash(placed) == expected
        subprocess.run([placed], check=True)
    with pytest.raises(EngineError, match="it has no usr/bin/ids"):
        engine_file.place(package(tmp_path / "empty", None).read_bytes(), str(tmp_path / "none"))
    with pytest.raises(EngineError):
        engine_file.place(b"!<arch>\nno package", str(tmp_path / "torn"))


def test_a_worker_runs_the_engine_that_came_along(spec, tmp_path):
    spec.binary, spec.engine = "", package(tmp_path, binary()).read_bytes()
    worker = Worker(spec)
    try:
        assert Path(worker.settings.binary).is_relative_to(worker.scratch)
        assert worker.which_engine()[1] == engine_file.file_hash(binary())
    finally:
        worker.close()
    spec.binary, spec.engine = "no-such-engine", b""
    with pytest.raises(EngineError, match="there is no no-such-engine"):
        Worker(spec)


def test_a_run_has_one_engine(tmp_path):
    """The first worker says which if the driver cannot; another one is refused."""
    store = Store(str(tmp_path))
    store.write_json(results.RUN, {"epoch": "e", "engine": ""}, str(tmp_path))
    fleet = driver.Driver.__new__(driver.Driver)
    fleet.store, fleet.scratch, fleet.engine_hash = store, str(tmp_path), ""
    fleet._same_engine("one", "a" * 64)
    assert store.read_json(results.RUN) == {"epoch": "e", "engine": "a" * 64}
    fleet._same_engine("two", "a" * 64)
    with pytest.raises(FleetError, match="three: its engine"):
        fleet._same_engine("three", "b" * 64)


def test_another_engine_does_not_go_on(tmp_path, config, rules, capsys):
    write(tmp_path / "c/1.pcap", 1)
    out = tmp_path / "out"
    (out / "_fleet").mkdir(parents=True)
    args = ["run", "--captures", str(tmp_path / "c"), "--config", str(config), "--rules",
            str(rules), "--out", str(out), "--engine", binary(), "--resume"]
    parsed = cli.parser().parse_args(args)
    path, content, found = cli.engine_of(parsed)
    assert (path, content, found) == (binary(), b"", engine_file.file_hash(binary()))
    parsed.engine_file = str(package(tmp_path, binary()))
    assert cli.engine_of(parsed)[::2] == ("", found)        # the same, however it came
    parsed.engine_file, parsed.engine = "", "elsewhere"
    assert cli.engine_of(parsed) == ("elsewhere", b"", "")
    other = tmp_path / "other"
    other.write_bytes(b"#!/bin/sh\n")
    other.chmod(0o755)
    (out / results.RUN).write_text(json.dumps({"engine": found}))
    assert fleet([tmp_path / "c"], out, config, rules, "--resume", "--engine-file", str(other)) == 2
    assert "other" in capsys.readouterr().err


def test_an_image_is_for_workers_alone():
    args = cli.parser().parse_args(["run", "--captures", "c", "--config", "c", "--out", "o",
                                    "--engine-image", "registry/ids-fleet:1", "--memory", "5"])
    options = cli.worker_options(args)
    here = os.getcwd()
    assert options == {"memory": 5, "runtime_env": {"container": {
        "image": "registry/ids-fleet:1",
        "run_options": ["--rm", "-v", f"{here}:{here}", "-v", f"{here}/o:{here}/o"]}}}
    RuntimeEnv(**options["runtime_env"])                    # Ray takes it
    assert cli.engine_of(args) == ("ids", b"", "")
