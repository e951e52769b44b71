# SPDX-License-Identifier: GPL-2.0-or-later
"""What people see: the progress bar, the summary at the end, the answer of `status`."""

import time
from typing import Any

from tqdm import tqdm

from ids_fleet import results
from ids_fleet.driver import Summary
from ids_fleet.store import Store
from ids_fleet.worklist import Totals

STEP = 1000
UNITS = ["B", "kB", "MB", "GB", "TB", "PB"]
TERABYTE = 1e12
PROGRESS_S = 2.0                # between two writings of the figures
FAILED_SHOWN = 20


def bytes_text(size: float) -> str:
    """A size in decimal units: 12.3 GB."""
    unit = 0
    while size >= STEP and unit < len(UNITS) - 1:
        size, unit = size / STEP, unit + 1
    return f"{size:.3g} {UNITS[unit]}"


def seconds_text(seconds: float) -> str:
    """A time: 3 h 5 min, 2 min 10 s, 1.2 s."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    if minutes:
        return f"{minutes} min {rest} s"
    return f"{seconds:.1f} s"


class Progress:
    """The bar, and the figures that `status` reads. Call it with the summary after each task."""

    def __init__(self, totals: Totals, store: Store, scratch: str) -> None:
        """`scratch` is a local folder."""
        self.totals, self.store, self.scratch = totals, store, scratch
        self.written = 0.0
        self.bar = tqdm(total=totals.size, unit="B", unit_scale=True, disable=None, smoothing=0.05)

    def __call__(self, summary: Summary) -> None:
        """Shows the figures, and stores them now and then."""
        self.bar.set_postfix_str(f"{summary.captures}/{self.totals.captures} captures, "
                                 f"{summary.alerts} alerts, {len(summary.failed)} failed",
                                 refresh=False)
        self.bar.update(summary.size - self.bar.n)
        if time.monotonic() - self.written > PROGRESS_S:
            self.write(summary, running=True)

    def write(self, summary: Summary, running: bool) -> None:
        """Stores the figures."""
        self.written = time.monotonic()
        self.store.write_json(results.PROGRESS, {
            "groups": summary.groups, "captures": summary.captures, "size": summary.size,
            "of_groups": self.totals.groups, "of_captures": self.totals.captures,
            "of_size": self.totals.size, "seconds": summary.seconds, "running": running,
            "time": time.time()}, self.scratch)

    def close(self) -> None:
        """Leaves the bar as it is."""
        self.bar.close()


def summary_lines(summary: Summary) -> list[str]:
    """The end of a run, for people."""
    seconds = max(summary.seconds, 1e-9)
    cpu = summary.engine_cpu + summary.other_cpu
    lines = [
        f"{summary.captures} captures in {summary.groups} groups, {bytes_text(summary.size)} in "
        f"{seconds_text(seconds)}: {bytes_text(summary.size / seconds)}/s",
        f"{summary.records} records, {summary.alerts} alerts, {summary.extracted} new files, "
        f"{len(summary.failed)} groups failed, {summary.warned} with warnings, "
        f"{summary.lost_workers} workers lost",
        f"CPU: {seconds_text(summary.engine_cpu)} engine, {seconds_text(summary.other_cpu)} "
        f"conversion" + (f", {cpu / 3600 * TERABYTE / summary.size:.1f} CPU hours a terabyte"
                         if summary.size else "")]
    busy = [ms / 1000 for ms in summary.busy.values()]
    if busy:
        lines.append(f"workers: {len(busy)}, busy {seconds_text(min(busy))} to "
                     f"{seconds_text(max(busy))}, skew {max(busy) * len(busy) / sum(busy):.2f}")
        lines += [f"  {worker}: {bytes_text(size)}, "
                  f"{bytes_text(size * 1000 / max(summary.busy[worker], 1))}/s"
                  for worker, size in summary.by_worker.most_common()]
    slowest = sorted(summary.slowest, reverse=True)
    lines += [f"slowest: {seconds_text(s)} {label}" for s, label in slowest[:5]]
    return lines + failed_lines(summary.failed)


def failed_lines(failed: list[results.GroupState]) -> list[str]:
    """Groups that failed, with the reason."""
    lines = [f"failed: {g.key}: {g.error}" for g in failed[:FAILED_SHOWN]]
    more = len(failed) - FAILED_SHOWN
    return lines + ([f"failed: and {more} more, see `ids-fleet status`"] if more > 0 else [])


def status(store: Store) -> dict[str, Any]:
    """The figures of a run from its folder. A group that failed and was read later has not failed.

    Raises FleetError if there is no run."""
    good = captures = size = records = alerts = 0
    failed: dict[str, results.GroupState] = {}
    for done in results.read_done(store):
        for group in done.groups:
            if group.error:
                failed[group.key] = group
                continue
            good += 1
            captures, size = captures + group.captures, size + group.size
            records, alerts = records + group.records, alerts + group.alerts
    if failed:                  # again, because the list is in no order of time
        for done in results.read_done(store):
            for group in done.groups:
                if not group.error:
                    failed.pop(group.key, None)
    lost = [{"group": key, "error": group.error} for key, group in failed.items()]
    figures: dict[str, Any] = {"groups": good, "captures": captures, "bytes": size,
                               "records": records, "alerts": alerts, "failed": lost}
    if store.exists(results.PROGRESS):
        now = store.read_json(results.PROGRESS)
        rate = now["size"] / now["seconds"] if now["seconds"] > 0 else 0.0
        figures |= {"running": now["running"], "bytes_per_s": round(rate),
                    "groups_left": now["of_groups"] - now["groups"],
                    "seconds_left": round((now["of_size"] - now["size"]) / rate)
                    if rate else None,
                    "updated": now["time"]}
    return figures
