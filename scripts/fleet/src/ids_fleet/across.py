# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds the rules that count or remember across the flows of more than two hosts.

Where several engines have a share each of a group's flows, such a rule sees only the flows of its
share. What is kept for one flow or for a pair of hosts is the same as in one engine."""

import re

SID = re.compile(r"\bsid\s*:\s*(\d+)\s*;")
ACROSS = re.compile(r"\btrack\s+by_(?:src|dst|rule)\b|\btrack\s+ip_(?:src|dst)\b|\bhostbits\s*:"
                    r"|\btag\s*:\s*host\b|\blua\s*:")
DATASET = re.compile(r"\bdataset\s*:\s*(set|unset|isset|isnotset)\s*,\s*([^,;\s]+)")
SETTING = re.compile(r"^\s*(?:threshold|event_filter|rate_filter)\b.*\bsig_id\s+(\d+)",
                     re.MULTILINE)
ALL = 0                         # in place of a rule's number: all rules


def rules_of(text: str) -> list[tuple[int, str]]:
    """The rules of a file, each with its number; lines that end with a backslash go on."""
    found = []
    for line in re.sub(r"\\\r?\n", " ", text).splitlines():
        sid = SID.search(line)
        if sid and not line.lstrip().startswith("#"):
            found.append((int(sid[1]), line))
    return found


def rules_across(rules: str, settings: str = "") -> frozenset[int]:
    """Numbers of the rules concerned; ALL among them: settings for all rules count. `settings` is
    the text of threshold.config."""
    listed = rules_of(rules)
    written = {name for _, line in listed for what, name in DATASET.findall(line)
               if what in ("set", "unset")}
    across = {sid for sid, line in listed if ACROSS.search(line)
              or any(name in written for _, name in DATASET.findall(line))}
    for match in SETTING.finditer(re.sub(r"\\\r?\n", " ", settings)):
        if ACROSS.search(match.string[match.start():].split("\n", 1)[0]):
            across.add(int(match[1]))
    return frozenset(across)
