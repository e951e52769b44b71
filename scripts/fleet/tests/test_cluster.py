# SPDX-License-Identifier: GPL-2.0-or-later
"""The examples of clusters: what can be said of them without one."""

import shlex
from pathlib import Path

import pytest
from ray.autoscaler._private.util import prepare_config, validate_config

from ids_fleet import cli

yaml = pytest.importorskip("yaml")
EXAMPLES = Path(__file__).parents[1] / "cluster"


def example(name):
    return yaml.safe_load((EXAMPLES / name).read_text())


def test_ray_takes_the_cluster_of_machines():
    config = example("ssh.yaml")
    validate_config(prepare_config(config))
    workers = config["provider"]["worker_ips"]
    assert config["min_workers"] == config["max_workers"] == len(workers)
    head = config["head_start_ray_commands"][-1]
    assert "--ray-client-server-port=10001" in head and "--port=6379" in head
    assert config["file_mounts"]["/home/ids/.ray/auth_token"]
    for command in (head, config["worker_start_ray_commands"][-1]):
        assert "RAY_AUTH_MODE=token" in command


def test_the_job_of_kuberay_is_a_run(capsys):
    job = example("kuberay.yaml")
    assert (job["apiVersion"], job["kind"]) == ("ray.io/v1", "RayJob")
    program, *words = shlex.split(job["spec"]["entrypoint"])
    args = cli.parser().parse_args(words)
    assert program == "ids-fleet" and args.command == "run" and args.resume
    cluster = job["spec"]["rayClusterSpec"]
    assert cluster["authOptions"] == {"mode": "token"} and "rayVersion" in cluster
    for group in (cluster["headGroupSpec"], *cluster["workerGroupSpecs"]):
        (container,) = group["template"]["spec"]["containers"]
        assert container["resources"]["requests"] == container["resources"]["limits"]
    worker = cluster["workerGroupSpecs"][0]["template"]["spec"]["containers"][0]["resources"]
    cpus, memory = int(worker["limits"]["cpu"]), int(worker["limits"]["memory"][:-2]) << 30
    assert cpus * args.memory < memory
