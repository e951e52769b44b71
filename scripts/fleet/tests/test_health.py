# SPDX-License-Identifier: GPL-2.0-or-later
"""When a sensor is worse after new rules: the filters of the playbook."""

import importlib.util
import json
from pathlib import Path

import pytest

PATH = Path(__file__).parents[1] / "ansible/roles/ids_update/filter_plugins/ids_health.py"
SPEC = importlib.util.spec_from_file_location("ids_health", PATH)
health = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(health)
LIMITS = {"drops_more": 0.01, "failed_more": "0", "alerts_factor": 5, "alerts_ignored": "1"}
FINE = {"packets": 1000.0, "drops": 2.0, "alerts": 30.0, "loaded": 9.0, "failed": 1.0,
        "seconds": 10.0}


def sample(packets, drops, alerts, uptime):
    counters = {"decoder": {"pkts": packets}, "detect": {"alert": alerts},
                "capture": {"kernel_packets": packets, "kernel_drops": drops}}
    rulesets = [{"id": 0, "rules_loaded": 5, "rules_failed": 1, "rules_skipped": 0},
                {"id": 1, "rules_loaded": 4, "rules_failed": 0, "rules_skipped": 0}]
    return health.ids_sample([json.dumps(counters), json.dumps(rulesets), str(uptime)])


def test_span():
    assert health.ids_span([sample(500, 1, 10, 100), sample(1500, 3, 40, 110)]) == FINE


def test_no_kernel_counters():
    text = json.dumps({"decoder": {"pkts": 7}, "detect": {"alert": 0}})
    assert health.ids_sample([text, "[]", "1"])["packets"] == 7


@pytest.mark.parametrize("change", [{}, {"drops": 11.0}, {"alerts": 150.0}, {"failed": 0.0}])
def test_not_worse(change):
    assert health.ids_worse([FINE, {**FINE, **change}], LIMITS) == []


@pytest.mark.parametrize(("change", "reason"), [
    ({"drops": 13.0}, "it drops 1.3% of the packets, 0.2% before"),
    ({"alerts": 160.0}, "16.0 alerts a second, 3.0 before"),
    ({"failed": 2.0}, "2 rules failed, 1 before"),
    ({"loaded": 0.0}, "it has no rules"),
    ({"seconds": -90.0, "packets": -5.0}, "the engine was started anew"),
])
def test_worse(change, reason):
    assert health.ids_worse([FINE, {**FINE, **change}], LIMITS)[:1] == [reason]


def test_few_alerts_are_never_too_many():
    quiet = {**FINE, "alerts": 0.0}
    assert health.ids_worse([quiet, {**quiet, "alerts": 10.0}], LIMITS) == []
    assert health.ids_worse([quiet, {**quiet, "alerts": 11.0}], LIMITS) != []
