# SPDX-License-Identifier: GPL-2.0-or-later
"""What the checks of the C sources share: which files there are, and their code without comments."""
import os
import re
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

_TOKEN = re.compile(
    r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def tracked(*suffixes):
    """Files of the project, relative to its top: what git knows, or in a tarball all there are."""
    try:
        out = subprocess.run(
            ["git", "-C", TOP, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            check=True, capture_output=True).stdout.decode()
        names = [n for n in out.split("\0") if n and os.path.isfile(os.path.join(TOP, n))]
    except (OSError, subprocess.CalledProcessError):
        names = []
        for directory, directories, files in os.walk(TOP):
            directories[:] = [f for f in directories if not f.startswith("build") and f != "autom4te.cache"]
            names += [os.path.relpath(os.path.join(directory, f), TOP) for f in files]
    return sorted(set(n for n in names if not suffixes or n.endswith(suffixes)))


def sources():
    """C files and headers of the product and its tests."""
    return [n for n in tracked(".c", ".h") if n.startswith("src/") and n != "src/tests/list.c"]


def read(name):
    with open(os.path.join(TOP, name), encoding="utf-8", errors="replace") as f:
        return f.read()


def code_only(text, keep_strings=False):
    """The text with comments (and strings) blanked; lines and columns stay where they are."""
    def blank(match):
        token = match.group(0)
        if token[0] in "\"'":
            if keep_strings:
                return token
            return token[0] + " " * (len(token) - 2) + token[-1]
        return re.sub(r"[^\n]", " ", token)
    return _TOKEN.sub(blank, text)


def allowances(name, fields):
    """Lines of an allowlist: `fields` words, then the reason, which must be there."""
    allowed = {}
    for number, line in enumerate(read(name).splitlines(), 1):
        words = line.split(None, fields)
        if not words or words[0].startswith("#"):
            continue
        if len(words) <= fields:
            sys.exit(f"{name}:{number}: expected {fields} words and a reason")
        allowed[tuple(words[:fields])] = words[fields]
    return allowed


def finish(check, problems, looked_at):
    """Prints the problems and one line of result; gives the exit status."""
    for problem in problems:
        print(problem)
    state = f"{len(problems)} problems" if problems else "ok"
    print(f"{check}: {state} ({looked_at})")
    return 1 if problems else 0
