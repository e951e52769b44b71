# SPDX-License-Identifier: GPL-2.0-or-later
"""The columns of records: eve_schema.json, which scripts/fleet/eve-schema makes from the engine.

A type is a leaf ("BIGINT", "DOUBLE", "BOOLEAN", "VARCHAR", "JSON"), a list with the type of its
items, or a map from names to types."""

import json
from functools import lru_cache
from importlib import resources
from typing import Any

Type = Any                      # str, [Type] or {str: Type}; mypy has no short recursive alias
INT_MAX = 2**63 - 1


@lru_cache(maxsize=1)
def eve() -> dict[str, Type]:
    """The columns of all records, by the name of the field."""
    text = resources.files("ids_fleet").joinpath("eve_schema.json").read_text(encoding="utf-8")
    tree: dict[str, Type] = json.loads(text)
    return tree


def dump(value: Any) -> str:
    """JSON in ASCII, as short as it gets."""
    return json.dumps(value, separators=(",", ":"))


def is_text(value: str) -> bool:
    """Whether a string is Unicode: JSON allows halves of characters, columns do not."""
    return value.isascii() or not any("\ud800" <= c <= "\udfff" for c in value)


def fits(kind: Type, value: Any) -> bool:
    """Whether a column holds a value that is no object and no list."""
    if kind == "VARCHAR":
        return isinstance(value, str) and is_text(value)
    if kind == "BOOLEAN":
        return isinstance(value, bool)
    if kind == "BIGINT":
        return type(value) is int and -INT_MAX - 1 <= value <= INT_MAX
    return kind == "DOUBLE" and type(value) in (int, float) and float(value) == value


def split(kind: Type, value: Any) -> tuple[Any, Any]:
    """The part of a value that its column holds, and the rest; None: there is none of it.

    A list goes as a whole to one side, so that the order of its items stays. A member without a
    column that is null goes nowhere: a column cannot tell null from absent."""
    if value is None or kind == "JSON":
        return value, None
    if isinstance(kind, dict) and isinstance(value, dict):
        known, rest = {}, {}
        for key, inner in value.items():
            mine, other = split(kind[key], inner) if key in kind else (None, inner)
            if key in kind and (mine is not None or other is None):
                known[key] = mine
            if other is not None:
                rest[key] = other
        return known, rest or None
    if isinstance(kind, list) and isinstance(value, list):
        parts = [split(kind[0], item) for item in value]
        whole = all(rest is None for _, rest in parts)
        return ([known for known, _ in parts], None) if whole else (None, value)
    return (value, None) if fits(kind, value) else (None, value)


def value_of(kind: Type, column: Any) -> Any:
    """The JSON value of a column, without the members that are null."""
    if column is None:
        return None
    if kind == "JSON":
        return without_null(json.loads(column))
    if isinstance(kind, dict):
        members = {key: value_of(kind[key], inner) for key, inner in column.items()}
        return {key: inner for key, inner in members.items() if inner is not None}
    if isinstance(kind, list):
        return [value_of(kind[0], item) for item in column]
    return column


def without_null(value: Any) -> Any:
    """A JSON value without members that are null: a column cannot tell them from absent ones."""
    if isinstance(value, dict):
        return {key: without_null(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [without_null(item) for item in value]
    return value


def merge(known: Any, rest: Any) -> Any:
    """The whole of which split() made two parts."""
    if isinstance(known, dict) and isinstance(rest, dict):
        keys = [*known, *(key for key in rest if key not in known)]
        return {key: merge(known.get(key), rest.get(key)) for key in keys}
    return known if rest is None else rest
