# SPDX-License-Identifier: GPL-2.0-or-later
"""Columns of Arrow from lines of JSON, without an object of Python for each record.

Arrow's reader takes a block of lines by a schema, and refuses fields that the schema does not
have. It is fast only with few columns, so the schema of an event type holds what its records had
so far (Seen), and grows when the reader refuses a block."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.json

from ids_fleet import schema

LEAVES = {"BIGINT": pa.int64(), "BOOLEAN": pa.bool_(), "VARCHAR": pa.string(), "JSON": pa.string(),
          "DOUBLE": pa.float64()}
# What the reader would not keep as it is: JSON may be any value, a long integer is no double. A
# record that has one goes through Python, where JSON becomes text.
NOT_READ = {"JSON", "DOUBLE"}


def arrow_type(kind: schema.Type) -> pa.DataType:
    """The type of a column; a field of kind JSON is text."""
    if isinstance(kind, str):
        return LEAVES[kind]
    if isinstance(kind, list):
        return pa.list_(arrow_type(kind[0]))
    return pa.struct([(key, arrow_type(inner)) for key, inner in kind.items()])


def widen(array: pa.Array, kind: schema.Type) -> pa.Array:
    """A column with all members that its kind has: null where they are missing."""
    wanted = arrow_type(kind)
    if array.type == wanted:
        return array
    if isinstance(kind, list):
        return pa.ListArray.from_arrays(array.offsets, widen(array.values, kind[0]),
                                        mask=array.is_null())
    found = {array.type.field(i).name: array.field(i) for i in range(array.type.num_fields)}
    members = [widen(found[key], inner) if key in found
               else pa.nulls(len(array), arrow_type(inner)) for key, inner in kind.items()]
    return pa.StructArray.from_arrays(members, fields=list(wanted), mask=array.is_null())


def used(array: pa.Array, path: str) -> Iterator[str]:
    """The leaves of a column that have a value, by their paths in Parquet."""
    if array.null_count == len(array):
        return
    if pa.types.is_struct(array.type):
        for i in range(array.type.num_fields):
            yield from used(array.field(i), f"{path}.{array.type.field(i).name}")
    elif pa.types.is_list(array.type):
        yield from used(array.values, f"{path}.list.element")
    else:
        yield path


def as_text(kind: schema.Type, value: Any) -> Any:
    """A value that fits its column, with members of kind JSON as text."""
    if value is None:
        return None
    if kind == "JSON":
        return schema.dump(value)
    if isinstance(kind, dict):
        return {key: as_text(kind[key], inner) for key, inner in value.items()}
    if isinstance(kind, list):
        return [as_text(kind[0], item) for item in value]
    return value


@dataclass
class Seen:
    """The columns that the records of one event type had. `marks` are the names, as in a line, of
    those that the reader must not see untouched."""

    kind: dict[str, schema.Type] = field(default_factory=dict)
    marks: set[bytes] = field(default_factory=set)

    def add(self, known: dict[str, Any]) -> None:
        """Adds the columns of a record, without what does not fit them."""
        self._members(self.kind, schema.eve(), known)

    def _members(self, seen: dict[str, schema.Type], kind: dict[str, schema.Type],
                 value: dict[str, Any]) -> None:
        for key, inner in value.items():
            seen[key] = self._grown(key, seen.get(key), kind[key], inner)

    def _grown(self, key: str, seen: schema.Type, kind: schema.Type, value: Any) -> schema.Type:
        if isinstance(kind, str):
            if kind in NOT_READ:
                self.marks.add(f'"{key}"'.encode())
            return kind
        if isinstance(kind, list):
            inner = seen[0] if seen else kind[0] if isinstance(kind[0], str) else type(kind[0])()
            for item in value or []:
                inner = self._grown(key, inner, kind[0], item)
            # A list of lists or maps whose items are all absent: nothing to narrow.
            return [inner or kind[0]]
        seen = {} if seen is None else seen
        self._members(seen, kind, value or {})
        return seen

    def is_marked(self, line: bytes) -> bool:
        """Whether a line may have a member that the reader must not see."""
        for mark in self.marks:     # no any(), which takes twice as long: this is for each record
            if mark in line:
                return True
        return False

    def read(self, lines: list[bytes]) -> pa.Table:
        """The columns of these lines. Raises pa.ArrowInvalid if a record does not fit them."""
        text = b"\n".join(lines)
        fields = [(key, arrow_type(inner)) for key, inner in self.kind.items()]
        table = pyarrow.json.read_json(
            pa.BufferReader(text),
            read_options=pyarrow.json.ReadOptions(use_threads=False, block_size=len(text) + 1),
            parse_options=pyarrow.json.ParseOptions(explicit_schema=pa.schema(fields),
                                                    unexpected_field_behavior="error"))
        if table.num_rows != len(lines):
            raise pa.ArrowInvalid("a line has not one record")
        return table
