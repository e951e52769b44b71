# SPDX-License-Identifier: GPL-2.0-or-later
"""Workers in containers, by podman, from an image that is made here."""

import os
import resource
import shutil
import subprocess

import pytest
from conftest import alone, binary, fleet, status, write
from image_root import pack

from ids_fleet import cli, results
from ids_fleet.engine_file import file_hash
from ids_fleet.store import Store

IMAGE = "localhost/ids-fleet-test:1"
CAPTURES = 6
# Ray asks for --userns=keep-id. Podman before 4.4 refuses it for root, where it changes nothing.
PODMAN = """#!/bin/sh
test "$(id -u)" = 0 && for word; do shift; test "$word" = --userns=keep-id || set -- "$@" "$word"; \
done
echo "$@" >>%s
exec %s "$@"
"""


def limit(which):
    return min(resource.getrlimit(which)[1] % (1 << 32), 4096)


@pytest.fixture
def podman(tmp_path, monkeypatch):
    """Podman that can run containers here, and the file that has its commands. Limits are not
    raised, as tests may run in a container themselves; only runc knows two kinds of cgroups at
    once."""
    real = shutil.which("podman")
    if not real:
        pytest.skip("there is no podman")
    is_v2 = os.path.exists("/sys/fs/cgroup/cgroup.controllers")
    runtime = "" if is_v2 or not shutil.which("runc") else '[engine]\nruntime = "runc"\n'
    (tmp_path / "containers.conf").write_text(
        f'[containers]\ndefault_ulimits = ["nofile={limit(resource.RLIMIT_NOFILE)}", '
        f'"nproc={limit(resource.RLIMIT_NPROC)}"]\n{runtime}')
    monkeypatch.setenv("CONTAINERS_CONF", str(tmp_path / "containers.conf"))
    (tmp_path / "bin").mkdir()
    commands = tmp_path / "podman.log"
    (tmp_path / "bin/podman").write_text(PODMAN % (commands, real))
    (tmp_path / "bin/podman").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    pack(binary(), tmp_path / "root.tar")
    subprocess.run(["podman", "import", "-c", "ENV PATH=/usr/local/bin:/usr/bin",
                    str(tmp_path / "root.tar"), IMAGE], check=True, capture_output=True)
    (tmp_path / "root.tar").unlink()
    try:
        tried = subprocess.run(["podman", "run", "--rm", "--network=host", "--pid=host",
                                "--ipc=host", IMAGE, "ids", "-V"], capture_output=True, text=True,
                               check=False)
        if tried.returncode != 0:
            pytest.skip(f"podman runs no container here: {tried.stderr.strip()}")
        yield commands
    finally:
        subprocess.run(["podman", "rmi", "-f", IMAGE], capture_output=True, check=False)


def test_workers_run_in_an_image(podman, tmp_path, config, rules, capsys):
    folder, out = tmp_path / "with space", tmp_path / "out"
    for n in range(CAPTURES):
        write(folder / f"{n}.pcap", n)
    assert fleet([folder], out, config, rules, "--engine-image", IMAGE) == 0
    now = status(out, capsys)
    assert (now["captures"], now["failed"]) == (CAPTURES, [])
    run = Store(str(out)).read_json(results.RUN)
    assert (run["image"], run["engine"]) == (IMAGE, file_hash(binary()))
    workers = [line for line in podman.read_text().splitlines() if "worker" in line]
    assert any(f"-v {folder}:{folder}" in line and IMAGE in line for line in workers)
    eves = [str(alone(config, rules, folder / f"{n}.pcap", tmp_path / f"alone{n}"))
            for n in range(CAPTURES)]
    assert cli.main(["compare", str(out), *eves]) == 0
    left = subprocess.run(["podman", "ps", "-a", "-q", "--filter", f"ancestor={IMAGE}"],
                          capture_output=True, text=True, check=True)
    assert left.stdout == ""


def test_a_worker_sees_what_is_given(tmp_path):
    (tmp_path / "a").mkdir()
    args = cli.parser().parse_args(
        ["run", "--captures", f"{tmp_path}/a/x.pcap", f"{tmp_path}/b*/*.pcap", "s3://c/d", "@list",
         "--config", "c", "--out", f"{tmp_path}/out", "--image-folder", "/archive",
         "--engine-image", IMAGE])
    assert cli.image_folders(args) == sorted(
        [str(tmp_path), f"{tmp_path}/a", f"{tmp_path}/out", "/archive"])
