# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line: ids-fleet run, status, compare, query."""

import argparse
import json
import os
import secrets
import shlex
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from typing import Any

import duckdb
import ray

from ids_fleet import __version__, across, captures, driver, engine_file, report, results, tables
from ids_fleet.errors import EngineError, FleetError, StoreError
from ids_fleet.store import Store, one_line, read_file
from ids_fleet.worker import Spec, content_hash
from ids_fleet.worklist import Worklist, group_key

SIDS_SHOWN = 20
COMPANIONS = ("classification.config", "reference.config", "threshold.config")


def parser() -> argparse.ArgumentParser:
    """The options of all commands."""
    top = argparse.ArgumentParser(prog="ids-fleet", description=__doc__)
    top.add_argument("--version", action="version", version=__version__)
    commands = top.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="read captures, store records")
    run.add_argument("--captures", nargs="+", required=True, metavar="PATH_OR_URL",
                     help="files, folders, patterns; @URL: a manifest with a line for each")
    run.add_argument("--config", required=True, metavar="FILE", help="the engine's configuration")
    run.add_argument("--rules", nargs="+", default=[], metavar="FILE",
                     help="rules instead of those of the configuration")
    run.add_argument("--files", nargs="+", default=[], metavar="FILE",
                     help="what the configuration names without a folder: includes, datasets")
    run.add_argument("--out", required=True, metavar="PATH_OR_URL", help="folder of the results")
    run.add_argument("--address", default="local", metavar="local|ray://HEAD:10001",
                     help="the Ray cluster; local: one on this machine")
    run.add_argument("--group-by", choices=["file", "folder", "sensor"], default="file",
                     help="what one timeline is")
    run.add_argument("--sensor", default="", metavar="REGEX",
                     help="its first group in a capture's URL is the sensor")
    run.add_argument("--order", choices=["time", "name"], default="time",
                     help="of the captures of a group: time of change, or name")
    run.add_argument("--names", default=captures.NAMES, metavar="REGEX",
                     help="which files of a folder are captures")
    run.add_argument("--parallel", type=int, default=0, metavar="N",
                     help="workers; default: the CPUs of the cluster")
    run.add_argument("--resume", action="store_true", help="go on with what an earlier run left")
    engine = run.add_mutually_exclusive_group()
    engine.add_argument("--engine", default="ids", metavar="PATH", help="of ids on each machine")
    engine.add_argument("--engine-file", default="", metavar="PATH_OR_URL",
                        help="ids, or a Debian package of it, that goes along with the run")
    engine.add_argument("--engine-image", default="", metavar="IMAGE",
                        help="container with ids, Ray and ids-fleet for the workers, by podman")
    run.add_argument("--image-folder", action="append", default=[], metavar="DIR",
                     help="one more folder for workers in containers, such as that of captures in "
                          "a manifest; repeat it")
    run.add_argument("--engine-arg", action="append", default=[], metavar="ARG",
                     help="one more argument of the engine; repeat it")
    run.add_argument("--memory", type=int, default=0, metavar="BYTES", help="of a worker")
    run.add_argument("--split", type=int, default=0, metavar="BYTES",
                     help="of larger groups, several workers read a share each of the flows")
    run.add_argument("--one-cpu", action="store_true",
                     help="hold each worker with its engine to one CPU")
    run.add_argument("--limit", type=float, default=0.0, metavar="S", help="for one group")
    run.add_argument("--scratch", default="", metavar="DIR",
                     help="on each machine, for files in work")
    status = commands.add_parser("status", help="what is done, failed, left")
    status.add_argument("out", metavar="OUT")
    compare = commands.add_parser("compare", help="the same events as of one engine alone?")
    compare.add_argument("out", metavar="OUT")
    compare.add_argument("eve", nargs="+", metavar="EVE", help="eve.json of one engine")
    query = commands.add_parser("query", help="SQL over the records")
    query.add_argument("out", metavar="OUT")
    query.add_argument("sql", metavar="SQL", help="tables: events, and one for each event type")
    return top


def given_file(url: str) -> bytes:
    """A file that an option names. Raises FleetError."""
    try:
        return read_file(url)
    except OSError as e:
        raise FleetError(f"{url}: {e.strerror or e}") from e


def companions(config: str, files: Sequence[str]) -> dict[str, bytes]:
    """The files that workers get beside the configuration, by name: those that were given, and the
    ones that the engine looks for beside its configuration. Raises FleetError."""
    found = {os.path.basename(name): given_file(name) for name in files}
    beside = os.path.dirname(config)
    for name in COMPANIONS:
        for folder in (beside, os.path.join(beside, "rules")):
            path = os.path.join(folder, name)
            if name not in found and os.path.exists(path):
                found[name] = given_file(path)
    return found


def engine_of(args: argparse.Namespace) -> tuple[str, bytes, str]:
    """The path of the engine for workers, its content if it goes along, and the hash that its file
    must have there; "": this machine cannot say. Raises FleetError."""
    if args.engine_file:
        content = given_file(args.engine_file)
        with tempfile.TemporaryDirectory(prefix="ids-fleet-", dir=args.scratch or None) as folder:
            path = engine_file.place(content, os.path.join(folder, "engine"))
            return "", content, engine_file.file_hash(path)
    here = "" if args.engine_image else engine_file.path_of(args.engine)
    return here or args.engine, b"", engine_file.file_hash(here) if here else ""


def begin(store: Store, args: argparse.Namespace, spec: Spec, engine: str, scratch: str) -> str:
    """Writes run.json, and returns the hash of the engine ("": not known yet). Raises FleetError if
    results are there and --resume is not given, or if they come from another engine, other rules,
    configuration, or groups."""
    about: dict[str, Any] = {
        "rules": content_hash(spec.rules), "config": content_hash(spec.config),
        "arguments": spec.arguments, "split": args.split,
        "group_by": args.group_by, "order": args.order,
        "files": content_hash(*(name.encode() + b"\0" + spec.files[name]
                                for name in sorted(spec.files))),
        "engine": engine, "image": args.engine_image}
    if store.exists(results.RUN):
        if not args.resume:
            raise FleetError(f"{args.out}: it has results; give --resume, or another folder")
        before = store.read_json(results.RUN)
        before = {"split": 0, "image": "", **before}     # results from before there were these
        about["engine"] = engine or before.get("engine", "")
        other = sorted(key for key in about if before.get(key) != about[key])
        if other:
            raise FleetError(f"{args.out}: its results have other {', '.join(other)}: run it again "
                             "with another folder")
    store.write_json(results.RUN, {**about, "epoch": spec.epoch, "started": time.time()}, scratch)
    return str(about["engine"])


def done_groups(store: Store) -> Iterator[str]:
    """The keys of the groups that were read."""
    return (g.key for done in results.read_done(store) for g in done.groups if not g.error)


def say_across(spec: Spec) -> None:
    """Names the rules that see only a share of the flows that they count."""
    sids = sorted(across.rules_across(
        spec.rules.decode(errors="replace"),
        spec.files.get("threshold.config", b"").decode(errors="replace")))
    if sids:
        more = f" and {len(sids) - SIDS_SHOWN} more" if len(sids) > SIDS_SHOWN else ""
        names = "all rules" if across.ALL in sids else \
            "rules " + ", ".join(map(str, sids[:SIDS_SHOWN])) + more
        print(f"{names}: count across flows, so in groups that are split their alerts are marked "
              "(fleet_partial)", file=sys.stderr)


def run(args: argparse.Namespace) -> int:
    """ids-fleet run. 0: all were read, 1: some groups failed."""
    if args.split and not args.rules:
        raise FleetError("--split needs --rules, to find those that count across flows")
    store = Store(args.out if "://" in args.out else os.path.abspath(args.out))
    path, content, engine = engine_of(args)
    spec = Spec(
        out=store.url, epoch=secrets.token_hex(8), binary=path, engine=content,
        config=given_file(args.config),
        rules=b"\n".join(given_file(r) for r in args.rules),
        files=companions(args.config, args.files), arguments=args.engine_arg,
        memory=args.memory // 2, limit_s=args.limit, order=args.order, scratch=args.scratch,
        one_cpu=args.one_cpu)
    with tempfile.TemporaryDirectory(prefix="ids-fleet-", dir=args.scratch or None) as scratch:
        engine = begin(store, args, spec, engine, scratch)
        if args.resume:
            results.sweep(store)
        work = Worklist(os.path.join(scratch, "work.db"), args.order, args.split)
        twice = work.fill(captures.find(args.captures, args.names),
                          group_key(args.group_by, args.sensor))
        work.skip(done_groups(store))
        totals = work.close()
        print(f"{totals.captures} captures, {report.bytes_text(totals.size)}, in {totals.groups} "
              f"groups{f', {twice} were named twice' if twice else ''}", file=sys.stderr)
        if args.split:
            say_across(spec)
        summary = execute(args, spec, engine, work, report.Progress(totals, store, scratch))
        results.sweep(store)
    for line in report.summary_lines(summary):
        print(line)
    return 1 if summary.failed else 0


def image_folders(args: argparse.Namespace) -> list[str]:
    """The folders of a machine that workers in containers must see: those of the results, of files
    in work, of captures that --captures names, and what --image-folder adds. Raises FleetError."""
    found = [args.out, args.scratch, *args.image_folder]
    for source in args.captures:
        if "://" in source or source.startswith("@"):
            continue
        at = captures.MAGIC.search(source)
        fixed = os.path.abspath(os.path.dirname(source[:at.start()]) if at else source)
        found.append(fixed if os.path.isdir(fixed) else os.path.dirname(fixed))
    paths = {os.path.abspath(path) for path in found if path and "://" not in path}
    if wrong := [path for path in sorted(paths) if ":" in path]:
        raise FleetError(f"{wrong[0]}: podman takes no folder with a colon")
    return sorted(paths)


def worker_options(args: argparse.Namespace) -> dict[str, Any]:
    """What Ray is told of each worker: its memory in bytes, the image that it runs in, with the
    folders that it shares with its machine. Ray makes a command for a shell of it. Raises
    FleetError."""
    options: dict[str, Any] = {"memory": args.memory} if args.memory else {}
    if args.engine_image:
        folders = [word for path in image_folders(args)
                   for word in ("-v", shlex.quote(f"{path}:{path}"))]
        options["runtime_env"] = {"container": {"image": args.engine_image,
                                                "run_options": ["--rm", *folders]}}
    return options


def execute(args: argparse.Namespace, spec: Spec, engine: str, work: Worklist,
            progress: report.Progress) -> driver.Summary:
    """The run itself, on the cluster. `engine` is the hash of its file, if that is known."""
    workers = driver.connect(args.address, args.parallel, bool(args.engine_image))
    try:
        fleet = driver.Driver(spec, workers, progress, worker_options(args), engine)
        try:
            summary = fleet.run(work.tasks(workers))
        finally:
            fleet.close()
        summary.seconds = time.time() - summary.started
        progress.write(summary, running=False)
        return summary
    finally:
        progress.close()
        ray.shutdown()


def status(args: argparse.Namespace) -> int:
    """ids-fleet status. Prints JSON."""
    print(json.dumps(report.status(Store(args.out)), indent=2))
    return 0


def compare(args: argparse.Namespace) -> int:
    """ids-fleet compare. 0: equal, 1: something differs. Raises FleetError if one is unreadable."""
    try:
        result = tables.compare(Store(args.out), args.eve)
    except duckdb.Error as e:
        raise FleetError(f"{args.out}: {one_line(e)}") from e
    print(f"{result.same} records are the same")
    for what, counter in (("only in the results", result.only_fleet),
                          ("only of one engine", result.only_engine),
                          ("other columns than bytes", result.changed)):
        for event, count in sorted(counter.items()):
            print(f"{what}: {count} {event}")
    for example in result.examples:
        print(example)
    print("equal" if result.equal else "not equal")
    return 0 if result.equal else 1


def query(args: argparse.Namespace) -> int:
    """ids-fleet query. Prints a table. Raises FleetError if the SQL is wrong."""
    try:
        print(tables.connect(Store(args.out)).sql(args.sql))
    except duckdb.Error as e:
        raise FleetError(str(e)) from e
    return 0


COMMANDS = {"run": run, "status": status, "compare": compare, "query": query}


def main(argv: Sequence[str] | None = None) -> int:
    """The console script; returns the exit status."""
    args = parser().parse_args(argv)
    try:
        return COMMANDS[args.command](args)
    except FleetError as e:
        print(f"ids-fleet: {e}", file=sys.stderr)
        return e.status
    except (EngineError, OSError, sqlite3.Error) as e:      # a wrong package, the driver's own disk
        print(f"ids-fleet: {one_line(e)}", file=sys.stderr)
        return FleetError.status
    except ray.exceptions.RayError as e:
        print(f"ids-fleet: the Ray cluster: {one_line(e)}; --resume goes on", file=sys.stderr)
        return StoreError.status
    except KeyboardInterrupt:
        print("ids-fleet: stopped; --resume goes on", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
