# SPDX-License-Identifier: GPL-2.0-or-later
"""What the fields of EVE records mean, from the *.fields files beside the code that writes them.

A line is `PATH: meaning`. PATH is as in doc/eve.md, with `*` for other keys; `{a,b}` means each
of its parts, so one line may speak of several fields. `[TYPE]` on a line of its own: what follows
holds in records of this type only. `#` begins a comment."""
import re

import csource

LINE = re.compile(r"(\S+): (.+)")
SECTION = re.compile(r"\[([\w-]+)\]")


def alternatives(text):
    """Splits at the commas that stand in no inner pair of braces."""
    parts, depth, begin = [], 0, 0
    for at, c in enumerate(text):
        depth += (c == "{") - (c == "}")
        if c == "," and depth == 0:
            parts.append(text[begin:at])
            begin = at + 1
    return parts + [text[begin:]]


def expanded(path):
    """All paths that one with braces stands for."""
    start = path.find("{")
    if start < 0:
        return [path]
    depth, end = 0, start
    for end in range(start, len(path)):
        depth += (path[end] == "{") - (path[end] == "}")
        if depth == 0:
            break
    return [path[:start] + middle + rest for one in alternatives(path[start + 1:end])
            for middle in expanded(one) for rest in expanded(path[end + 1:])]


class Meanings:
    """(record type or None, path) -> what it means."""

    def __init__(self):
        self.problems = []
        self.of = {}
        self.where = {}
        self.used = set()
        for path in csource.tracked(".fields"):
            self.read(path)

    def read(self, path):
        event = None
        for number, line in enumerate(csource.read(path).splitlines(), 1):
            where, line = f"{path}:{number}", line.strip()
            section, entry = SECTION.fullmatch(line), LINE.fullmatch(line)
            if not line or line.startswith("#"):
                continue
            if section:
                event = section.group(1)
            elif entry:
                for one in expanded(entry.group(1)):
                    self.add((event, one), entry.group(2), where)
            else:
                self.problems.append(f"{where}: expected PATH: MEANING or [TYPE]")

    def add(self, key, text, where):
        if key in self.of:
            self.problems.append(f"{where}: {key[1]} has a meaning already, in {self.where[key]}")
        self.of[key], self.where[key] = text, where

    def get(self, event, path):
        """The meaning, or None; it counts as used."""
        for key in (event, path), (None, path):
            if key in self.of:
                self.used.add(key)
                return self.of[key]
        return None

    def unused(self):
        return [f"{self.where[key]}: no record has the field {key[1]}"
                for key in self.of if key not in self.used]
