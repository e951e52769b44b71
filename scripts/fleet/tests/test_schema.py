# SPDX-License-Identifier: GPL-2.0-or-later
import json
import subprocess
import sys
from pathlib import Path

import pytest

from ids_fleet import schema

KIND = {"a": "BIGINT", "b": {"c": "VARCHAR", "d": ["DOUBLE"]}, "e": "JSON", "f": [{"g": "BOOLEAN"}]}


def test_the_columns_are_those_of_the_engine():
    tool = Path(__file__).resolve().parents[1] / "eve-schema"
    subprocess.run([sys.executable, str(tool), "--check"], check=True)


@pytest.mark.parametrize("value", [
    {"a": 1, "b": {"c": "x", "d": [1, 2.5]}, "e": [1, "x"], "f": [{"g": True}, {}]},
    {"a": "text"}, {"a": 2**63}, {"a": -2**63}, {"a": True}, {"a": 1.5}, {"new": {"x": [1]}},
    {"b": "no object"}, {"b": {}}, {"b": {"c": 3, "z": 1}}, {"b": {"d": [1, "x"]}},
    {"f": [{"g": True, "h": 1}]}, {"f": {"g": True}}, {"e": {"any": {"thing": 1}}},
    {"b": {"d": [2**60 + 1]}},
])
def test_two_parts_make_the_whole(value):
    known, rest = schema.split(KIND, value)
    assert schema.merge(known, rest) == value
    assert schema.split(KIND, known)[1] is None


def test_what_fits_has_no_rest():
    assert schema.split(KIND, {"a": 1, "f": [{"g": False}]})[1] is None
    assert schema.split(KIND, {"a": "1"}) == ({}, {"a": "1"})


def test_null_members_are_left_out():
    assert schema.without_null({"a": None, "b": [{"c": None}], "d": {}}) == {"b": [{}], "d": {}}
    assert schema.value_of(KIND, {"a": None, "b": {"c": "x", "d": None}, "e": '{"q":null}',
                                  "f": None}) == {"b": {"c": "x"}, "e": {}}


def test_no_two_columns_differ_in_case_only():
    def walk(kind):
        if isinstance(kind, dict):
            assert len({key.lower() for key in kind}) == len(kind)
            for inner in kind.values():
                walk(inner)
        elif isinstance(kind, list):
            walk(kind[0])
    walk(schema.eve())
    assert len(schema.eve()) > 50
    json.dumps(schema.eve())
