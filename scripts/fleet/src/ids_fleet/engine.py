# SPDX-License-Identifier: GPL-2.0-or-later
"""One process of the engine that takes captures by command (`ids --unix-socket`).

It reads its rules once. Captures are queued ahead, so that it never waits for an answer, and
commands are sent many at a time, because each answer would cost two changes of process. What became
of each capture is in the log: the engine begins captures in the order of the commands.

Captures that follow one another may append their records to one file. The log says how large it is
after each of them. A file for each would cost more than half of what a small capture takes: file
systems look at each file that was removed of late before they make another."""

import ctypes
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ids_fleet.errors import EngineError

PR_SET_PDEATHSIG = 1            # of prctl(2)
LIBC = ctypes.CDLL(None)
START_S = 300.0                 # until rules are loaded
POLL_S = 0.002
POLL_MAX_S = 0.05
AT_ONCE = 32                    # commands before their answers are read
ANSWER_S = 120.0
LOG_FORMAT = "%d: %S: %M"
# With the level by environment, not by -v, there is no table of threads after each capture.
ENVIRONMENT = {"TZ": "UTC", "SC_LOG_LEVEL": "info", "SC_LOG_FORMAT": LOG_FORMAT,
               "SC_LOG_OP_FILTER": "."}
STARTED = "unix-manager: Starting run for '"
FAILED = re.compile(r"^Error: unix-manager: '.*' failed: (.*)$")
ENDED = re.compile(r"^Info: output: (.*) has (\d+) bytes$")
PROBLEM = re.compile(r"^(Error|Warning): (?!unix-manager)(.*)$")
KEPT_OUTPUTS = {"eve-log", "file-store"}
PROBLEMS_MAX = 8


@dataclass
class Outcome:
    """What became of one capture. `error` is empty if it was read. `records` are the places of its
    records: files, and from which byte to which."""

    error: str = ""
    warnings: list[str] = field(default_factory=list)
    records: dict[str, tuple[int, int]] = field(default_factory=dict)


@dataclass
class Settings:
    """How the engine is started. Paths are of this machine."""

    binary: str
    config: str
    rules: str                  # "": those of the configuration
    arguments: list[str]
    memory: int                 # bytes for flows, streams and the rest; 0: as configured


def configured(binary: str, config: str) -> dict[str, str]:
    """The values of a configuration by their keys. Raises EngineError if it is refused."""
    done = subprocess.run([binary, "-c", config, "--dump-config"], capture_output=True, text=True,
                          check=False, timeout=START_S)
    if done.returncode != 0:
        raise EngineError(f"{config}: {done.stderr.strip() or done.stdout.strip()}")
    return dict(line.split(" = ", 1) for line in done.stdout.splitlines() if " = " in line)


def is_yes(value: str) -> bool:
    """Whether a value of a configuration means yes."""
    return value.lower() in ("yes", "true", "on", "1")


def outputs_off(values: dict[str, str]) -> tuple[list[str], list[str], bool]:
    """The options that leave only EVE and extracted files of a configuration's outputs, the names
    that its EVE files get, and whether files are extracted. Raises EngineError if there is no EVE
    file."""
    options: list[str] = []
    files: list[str] = []
    extracts = False
    for key, name in values.items():
        if not re.fullmatch(r"outputs\.\d+", key):
            continue
        enabled = is_yes(values.get(f"{key}.{name}.enabled", "no"))
        if enabled and name not in KEPT_OUTPUTS:
            options += ["--set", f"{key}.{name}.enabled=no"]
        if enabled and name == "eve-log" \
                and values.get(f"{key}.{name}.filetype", "regular") in ("regular", "file"):
            files.append(f"eve-{len(files)}.json")
            for setting in (f"filename={files[-1]}", "append=yes", "threaded=no"):
                options += ["--set", f"{key}.{name}.{setting}"]
        extracts |= enabled and name == "file-store"
    if not files:
        raise EngineError("no eve-log with filetype regular is enabled in the configuration")
    return options, files, extracts


def log_options(values: dict[str, str]) -> list[str]:
    """The options that leave only the console of a configuration's logs, as Log reads it."""
    names = [(key, name) for key, name in values.items()
             if re.fullmatch(r"logging\.outputs\.\d+", key)]
    options = [f"{key}.{name}.enabled=no" for key, name in names if name != "console"
               and is_yes(values.get(f"{key}.{name}.enabled", "yes"))]
    console = next((key for key, name in names if name == "console"),
                   f"logging.outputs.{len(names)}")
    options += [f"{console}.console.{what}" for what in
                ("enabled=yes", "type=regular", f"format={LOG_FORMAT}")]
    return [word for option in options for word in ("--set", option)]


def end_with_parent() -> None:
    """In the engine's process before it begins: a worker that is killed takes its engine along."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def cpu_seconds(pid: int) -> float:
    """User and system time of a process and of the children it has waited for; 0: it has ended."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
            fields = f.read().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return sum(int(n) for n in fields[11:15]) / float(os.sysconf("SC_CLK_TCK"))


class Log:
    """The engine's log, read as it grows."""

    def __init__(self, path: str) -> None:
        """Opens it; the engine appends to it."""
        self.path = path
        self.file = open(path, encoding="utf-8", errors="replace")
        self.rest = ""

    def lines(self) -> Iterator[str]:
        """The whole lines that have come since the last call."""
        text = self.rest + self.file.read()
        *whole, self.rest = text.split("\n")
        yield from whole

    def tail(self) -> str:
        """The end of it, for a message."""
        with open(self.path, "rb") as f:
            f.seek(max(0, os.path.getsize(self.path) - 2000))
            return f.read().decode(errors="replace").strip()


class Engine:
    """A running engine. Not for use by several threads."""

    def __init__(self, settings: Settings, folder: str) -> None:
        """Starts it, with its log and socket in an empty folder; returns when the rules are
        loaded. Raises EngineError."""
        os.makedirs(folder, exist_ok=True)
        self.folder = folder
        self.path = os.path.join(folder, "socket")
        values = configured(settings.binary, settings.config)
        options, self.eve_files, self.extracts = outputs_off(values)
        options += log_options(values)
        log = os.path.join(folder, "engine.log")
        command = [settings.binary, "-c", settings.config, "--deterministic",
                   "--runmode", "single", "--set", "threading.set-cpu-affinity=no",
                   "--set", "unix-command.parallel-jobs=1", *options,
                   "-l", folder, f"--unix-socket={self.path}"]
        if settings.rules:
            command += ["-S", settings.rules]
        if settings.memory:
            command += ["--set", f"global-memcap={settings.memory}"]
        with open(log, "ab") as out:
            self.process = subprocess.Popen(
                command + settings.arguments, stdin=subprocess.DEVNULL, stdout=out,
                stderr=subprocess.STDOUT, cwd=folder, env=dict(os.environ, **ENVIRONMENT),
                preexec_fn=end_with_parent)  # noqa: PLW1509 - it calls one function, of libc
        self.log = Log(log)
        self._connect()

    def _connect(self) -> None:
        end = time.monotonic() + START_S
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(ANSWER_S)
        while True:
            try:
                self.socket.connect(self.path)
                break
            except OSError as e:
                if self.process.poll() is not None or time.monotonic() > end:
                    self.kill()
                    raise EngineError(f"the engine did not start: {self.log.tail()}") from e
                time.sleep(0.02)
        self.file = self.socket.makefile("rw", encoding="utf-8", errors="surrogateescape")
        list(self.send({"version": "0.2"}))

    def send(self, *messages: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Sends messages, and yields their answers in order. Raises EngineError."""
        try:
            self.file.write("".join(json.dumps(message) + "\n" for message in messages))
            self.file.flush()
            for _ in messages:
                answer = json.loads(self.file.readline() or "null")
                if not isinstance(answer, dict):
                    raise EngineError("the engine has closed its socket")
                yield answer
        except (OSError, ValueError) as e:
            raise EngineError(f"the engine does not answer: {e}") from e

    def ask(self, *commands: str) -> list[Any]:
        """The answers to commands without arguments. Raises EngineError if one is refused, or the
        engine ended."""
        answers = list(self.send(*({"command": command} for command in commands)))
        for command, answer in zip(commands, answers, strict=True):
            if answer.get("return") != "OK":
                raise EngineError(f"{command}: {answer.get('message')}")
        return [answer.get("message") for answer in answers]

    def left(self) -> int:
        """How many captures wait or are being read."""
        waiting, current = self.ask("pcap-file-number", "pcap-current")
        return int(waiting) + int(current != "None")

    def cpu(self) -> float:
        """User and system seconds that the engine has used."""
        return cpu_seconds(self.process.pid)

    def end_reason(self) -> str:
        """Why the process ended, as a message."""
        try:
            status = self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.kill()
            return "the engine did not answer"
        name = signal.Signals(-status).name if status < 0 else f"status {status}"
        return f"the engine ended with {name}"

    def kill(self) -> None:
        """Ends the process at once."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def close(self) -> None:
        """Ends the process and removes its folder."""
        self.kill()
        self.socket.close()
        self.log.file.close()
        shutil.rmtree(self.folder, ignore_errors=True)


class Run:
    """Captures that one engine reads one after another."""

    def __init__(self, engine: Engine) -> None:
        """Nothing must be running in the engine."""
        self.engine = engine
        self.outcomes: list[Outcome] = []
        self.folders: list[str] = []                # of their records
        self.sizes: dict[str, int] = {}             # of the files of records
        self.messages: list[dict[str, Any]] = []    # of the last outcomes; not sent yet
        self.refused: list[int] = []                # outcomes that the engine never begins
        self.begun = 0
        self.timed_out = False
        for _ in engine.log.lines():
            pass

    @property
    def current(self) -> int:
        """The place among `outcomes` of the capture that was begun last; -1: none was."""
        at = self.begun - 1
        for refused in self.refused:
            at += refused <= at
        return at

    def add(self, source: str, folder: str, share: str = "") -> None:
        """Queues a file or folder, with the folder for its records, which must exist and may be
        that of others; it has no records before the run. `share`: NUMBER/COUNT of its flows; "":
        all. Raises EngineError."""
        more = {"flow-share": share} if share else {}
        self.messages.append({"command": "pcap-file",
                              "arguments": {"filename": source, "output-dir": folder, **more}})
        self.outcomes.append(Outcome())
        self.folders.append(folder)
        if len(self.messages) >= AT_ONCE:
            self.send()

    def send(self) -> None:
        """Gives the engine what was queued. A capture that it refuses has failed."""
        first, messages = len(self.outcomes) - len(self.messages), self.messages
        self.messages = []
        for number, answer in enumerate(self.engine.send(*messages), first):
            if answer.get("return") != "OK":
                self.outcomes[number].error = str(answer.get("message"))
                self.refused.append(number)

    def read_log(self) -> None:
        """Takes what the log says: which capture runs, and what went wrong."""
        for line in self.engine.log.lines():
            if STARTED in line:
                self.begun += 1
            elif 0 <= self.current < len(self.outcomes):
                self._note(self.current, line)

    def _note(self, at: int, line: str) -> None:
        """Keeps a line of the log that says what went wrong with a capture, or where its records
        are."""
        ended = ENDED.match(line)
        if not ended:
            note(self.outcomes[at], line)
            return
        path, size = ended[1], int(ended[2])
        folder, _, name = path.rpartition("/")
        if folder == self.folders[at] and name in self.engine.eve_files:
            self.outcomes[at].records[path] = self.sizes.get(path, 0), size
            self.sizes[path] = size

    def wait(self, limit_s: float) -> None:
        """Returns when all are done. Raises EngineError if the engine ends, or if one capture takes
        more than limit_s seconds (0: no limit); `current` is the one it had.

        Looks again when half of the captures that are left should be done: the engine must not
        stand still for long, and each look takes its time."""
        self.send()
        start = since = time.monotonic()
        at = self.begun
        while left := self._left():
            passed = time.monotonic() - start
            pause = passed * left / max(1, len(self.outcomes) - left) / 2
            time.sleep(min(max(pause, POLL_S), POLL_MAX_S))
            if self.begun != at:
                at, since = self.begun, time.monotonic()
            if limit_s and time.monotonic() - since > limit_s:
                self.timed_out = True
                self.engine.kill()
                raise EngineError(f"it took more than {limit_s:g} s")
        self.read_log()

    def _left(self) -> int:
        """How many captures are not done. Raises EngineError if the engine ended.

        As long as the log moves it says so, which costs the engine nothing. It may stand still for
        a long capture, at the end, or for a full disk."""
        before = self.begun
        self.read_log()
        waiting = len(self.outcomes) - self.begun - len(self.refused)
        return waiting if waiting > 0 and self.begun != before else self.engine.left()


def note(outcome: Outcome, line: str) -> None:
    """Keeps a line of the log that says what went wrong."""
    failed, problem = FAILED.match(line), PROBLEM.match(line)
    if failed:
        errors = [w for w in outcome.warnings if w.startswith("Error: ")]
        outcome.error = errors[-1][7:] if errors else failed.group(1)
    elif problem and len(outcome.warnings) < PROBLEMS_MAX:
        outcome.warnings.append(line)
        if "No space left" in line:
            outcome.error = problem.group(2)
