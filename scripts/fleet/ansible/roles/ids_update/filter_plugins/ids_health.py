# SPDX-License-Identifier: GPL-2.0-or-later
"""Filters of update-sensors.yml: what a sensor did for some time, and whether it does worse since.

A sample is what the sensor's control socket answers to dump-counters, ruleset-stats and uptime."""

import json
from typing import Any


def ids_sample(answers: list[str]) -> dict[str, float]:
    """The figures of one moment, from three answers: dump-counters, ruleset-stats, uptime.

    Raises KeyError or ValueError if they are not what an engine says."""
    counters, rulesets, uptime = map(json.loads, answers)
    capture = counters.get("capture", {})
    rules = [r for r in rulesets if isinstance(r, dict)]
    return {
        "packets": float(capture.get("kernel_packets", counters["decoder"]["pkts"])),
        "drops": float(capture.get("kernel_drops", 0)),
        "alerts": float(counters["detect"]["alert"]),
        "loaded": float(sum(r["rules_loaded"] for r in rules)),
        "failed": float(sum(r["rules_failed"] for r in rules)),
        "uptime": float(uptime),
    }


def ids_span(samples: list[dict[str, float]]) -> dict[str, float]:
    """What happened from a first sample to a second one: packets, drops and alerts in this time,
    and the rules at its end. `seconds` is negative if the engine was started anew."""
    first, last = samples
    return {**{key: last[key] - first[key] for key in ("packets", "drops", "alerts")},
            "loaded": last["loaded"], "failed": last["failed"],
            "seconds": last["uptime"] - first["uptime"]}


def drop_share(span: dict[str, float]) -> float:
    """Drops as a share of what came. `kernel_packets` has the drops in it."""
    return span["drops"] / max(span["packets"], span["drops"], 1.0)


def ids_worse(spans: list[dict[str, float]], limits: dict[str, Any]) -> list[str]:
    """Why a sensor does worse in the second span than in the first one; empty if it does not.

    Limits: drops_more (a share of the packets), failed_more (rules), alerts_factor, and
    alerts_ignored (alerts a second that are never too many)."""
    before, after = spans
    reasons = []
    if after["seconds"] <= 0:
        reasons.append("the engine was started anew")
    more = drop_share(after) - drop_share(before)
    if more > float(limits["drops_more"]):
        reasons.append(f"it drops {drop_share(after):.1%} of the packets, "
                       f"{drop_share(before):.1%} before")
    if after["failed"] > before["failed"] + float(limits["failed_more"]):
        reasons.append(f"{after['failed']:.0f} rules failed, {before['failed']:.0f} before")
    if after["loaded"] == 0:
        reasons.append("it has no rules")
    rates = [span["alerts"] / max(span["seconds"], 1.0) for span in spans]
    if rates[1] > max(rates[0] * float(limits["alerts_factor"]), float(limits["alerts_ignored"])):
        reasons.append(f"{rates[1]:.1f} alerts a second, {rates[0]:.1f} before")
    return reasons


class FilterModule:
    """What Ansible looks for."""

    def filters(self) -> dict[str, Any]:
        """The filters by name."""
        return {"ids_sample": ids_sample, "ids_span": ids_span, "ids_worse": ids_worse}
