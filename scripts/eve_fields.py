# SPDX-License-Identifier: GPL-2.0-or-later
"""The fields of EVE records, read from the sources that write them.

A record is written by calls of base/report/json.h with a key, by one function and those that it
calls. fields_of() follows these calls from the function that a `struct app_log` or a `struct
eve_type` names, and keeps the tree of keys with the types of their values. Conditions do not
matter: each field that may stand in a record is found. A key that comes from a table is found when
the table stands in the same file; else the object says that it has more keys."""
import re
import sys

import csource

WRITERS = {
    "json_u64": "number", "json_put_u64": "number", "json_i64": "number", "json_double": "number",
    "json_bool": "boolean", "json_null": "null", "json_string": "text", "json_slice": "text",
    "json_bytes": "text", "json_put_bytes": "text", "json_lossy": "text", "json_printf": "text",
    "json_printable": "text", "json_base64": "base64", "json_hex": "hex digits",
    "json_raw": "any", "json_put_raw": "any", "JSON_U64": "number", "JSON_CLEAN": "text",
    "JSON_NAME": "text", "JSON_BOOL": "boolean", "JSON_SLICE": "text",
    "json_literal_slice": "text", "eve_time": "text", "eve_ip": "text",
}
OPENERS = {"json_object": "object", "json_array": "array", "JSON_OBJECT": "object",
           "JSON_ARRAY": "array"}
# Members that stand in a text as they are written (JSON_PUT). What follows in it tells the type,
# or the call that writes the value. Lists of such runs have numbers.
MEMBER = re.compile(r'\\"(\w+)\\":(?=(.{0,3}))')
STARTS = {"\\": "text", "t": "boolean", "f": "boolean", "[": "array"}
VALUES = {"JSON_PUT_U64": "number", "eve_put_time": "text", "put_hex": "hex digits"}
CALLER = re.compile(r"(\w+)\((?:\w+, )?$")
MORE = "…"                  # a key that only the traffic or the configuration knows
ITEM = "item: "             # before the type of what stands in a list
DEPTH_MAX = 24

FUNCTION = re.compile(r"^(?:static |inline )*[\w *]*?\b(\w+)\(((?:[^(){};]|\([^()]*\))*)\)\n\{\n(.*?)^\}",
                      re.M | re.S)
ONE_LINE = re.compile(r"^(?:static |inline )*[\w *]*?\b(\w+)\(([^(){};]*)\)\s*\{ (.*) \}$", re.M)
LITERAL = re.compile(r'JSON_LITERAL\(("[^"]*")\)')
CALL = re.compile(r"\b(\w+)\s*\(")
STRING = re.compile(r'"((?:\\.|[^"\\])*)"')
TABLE = r"\b%s\[[^]]*\]\s*=\s*\{(.*?)\n? *\};"
ROW = re.compile(r'\{\s*(?:\w+,\s*)*"((?:\\.|[^"\\])*)"')
DECLARATION = re.compile(r"const struct (app_log|eve_type) \w+ = \{(.*?)\};", re.S)
JSON_ARGUMENT = re.compile(r"&?(?:\w+->)?(?:j|json|js)")
# What all records have.
COMMON = {"eve_begin", "eve_end", "eve_end_within", "eve_end_limited", "eve_xff_end"}
METADATA = re.compile(r"\.alert_(?:metadata|contents) = (\w+)")
KEYWORDS = {"if", "for", "while", "switch", "return", "sizeof", "defined"}


class Field:
    """One key: the types of its values, and what stands in it when it is an object or array."""

    def __init__(self):
        self.types = set()
        self.members = {}

    def member(self, key):
        return self.members.setdefault(key, Field())

    def merge(self, other):
        self.types |= other.types
        for key, field in other.members.items():
            self.member(key).merge(field)


class Function:
    """A function of the sources: its file, the names of its parameters, its code."""

    def __init__(self, path, parameters, body):
        self.path = path
        self.parameters = [parameter_name(p) for p in arguments(parameters + ")", 0)[0] if p]
        self.body = body


def arguments(code, start):
    """The arguments of a call whose opening parenthesis ends at `start`, and where it ends."""
    depth, begin, found, at = 1, start, [], start
    while depth > 0 and at < len(code):
        c = code[at]
        if c == '"':
            at = STRING.match(code, at).end() - 1
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        if depth == 0 or (depth == 1 and c == ","):
            found.append(code[begin:at].strip())
            begin = at + 1
        at += 1
    return found, at


def parameter_name(declaration):
    pointer = re.search(r"\(\*(\w+)\)", declaration)
    words = re.findall(r"\w+", re.sub(r"\[.*", "", declaration))
    return pointer.group(1) if pointer else words[-1] if words else "..."


class Sources:
    """All functions that may write records, by file and name."""

    def __init__(self):
        self.functions = {}
        self.code = {}
        for path in csource.tracked(".c", ".h"):
            if not path.startswith(("src/app/", "src/output/", "src/base/report/", "src/detect/")) \
                    or "/tests/" in path:
                continue
            code = csource.code_only(csource.read(path), keep_strings=True)
            self.code[path] = code
            for pattern in FUNCTION, ONE_LINE:
                for name, parameters, body in pattern.findall(code):
                    if name not in KEYWORDS:
                        function = Function(path, parameters, body)
                        self.functions[path, name] = function
                        self.functions.setdefault(name, function)

    def find(self, path, name):
        return self.functions.get((path, name)) or self.functions.get(name)

    def declarations(self):
        """(kind, path, text) of each declaration of a record."""
        for path, code in sorted(self.code.items()):
            for kind, text in DECLARATION.findall(code):
                yield kind, path, text

    def metadata_writers(self):
        """(path, name) of the functions by which protocols tell alerts about a transaction."""
        for path, code in sorted(self.code.items()):
            for name in METADATA.findall(code):
                yield path, name


class Walk:
    """Follows the calls of one record's writer."""

    def __init__(self, records, function, environment, at, trail=()):
        self.records = records
        self.sources = records.sources
        self.function = function
        self.environment = environment      # what the caller gave: parameter -> keys, or a function
        self.at = at                        # stack of fields that are open
        self.trail = trail

    def keys(self, expression):
        """The keys that an expression may be: literals, parameters, rows of a table."""
        expression = expression.strip()
        literals = STRING.findall(expression)
        if literals and not expression.startswith("TEXT("):
            return [re.sub(r"\\.", "", text) for text in literals]
        if expression == "NULL":
            return [None]
        if isinstance(self.environment.get(expression), list):
            return self.environment[expression]
        variable = re.match(r"&?(\w+)", expression)
        if variable and isinstance(self.environment.get(variable.group(1)), list):
            return self.environment[variable.group(1)]
        if variable:
            return self.table(variable.group(1), expression) or [MORE]
        return [MORE]

    def table(self, name, expression):
        """Strings of the table that the expression indexes, or that a variable walks."""
        code = self.sources.code[self.function.path]
        for body in (self.function.body, code):
            row = re.search(TABLE % name, body, re.S)
            if row is None:
                walks = re.search(r"\b%s = &?(\w+)(?:;|\[)" % name, body)
                row = walks and re.search(TABLE % walks.group(1), code, re.S)
            if row:
                return self.column(body, name, expression, row.group(1))
        value = re.search(r"\b%s\s*=\s*([^;]*\"[^;]*);" % name, self.function.body)
        return [t for t in STRING.findall(value.group(1))] if value and name == expression else []

    @staticmethod
    def column(code, name, expression, rows):
        """The texts of the member that the expression asks for; the first of a row, or all texts of
        a plain list, when that is not to be seen."""
        texts = ROW.findall(rows) or STRING.findall(rows)
        member = re.search(r"(?:\.|->)(\w+)$", expression)
        struct = member and re.search(r"struct \{([^{}]*)\} %s\[" % name, code)
        if struct:
            members = re.findall(r"(\w+)[,;]", struct.group(1))
            of_rows = [STRING.findall(row) for row in re.findall(r"\{([^{}]*)\}", rows)]
            if member.group(1) in members and all(len(row) == len(members) for row in of_rows):
                texts = [row[members.index(member.group(1))] for row in of_rows]
        return [t for t in texts if re.fullmatch(r"[\w.-]+", t)]

    def write(self, name, given):
        literal = [m.group(1) for m in map(LITERAL.fullmatch, given) if m]
        key = literal[0] if literal else given[1] if len(given) > 1 else "NULL"
        if key == '"event_type"' and self.at[-1] is self.at[0]:
            self.begin(self.keys(given[2]))
        if name in ("json_put_u64", "json_put_bytes", "json_put_raw"):
            key = re.sub(r"^(?:json_key|TEXT_OF|text_of)\((.*)\)$", r"\1", key)
        keys = self.keys(key)
        if name in OPENERS:
            kind = OPENERS[name]
            parent, first = self.at[-1], None
            for one in keys:
                field = parent if one is None else parent.member(one)
                if one is not None:
                    field.types.add(kind)
                elif kind == "object" and len(self.at) > 1:
                    field.types.add(ITEM + "objects")
                if first is None:
                    first = field
                elif field is not first:        # keys of a table: the same stands in each
                    first.merge(field)
                    parent.members[one] = first
            self.at.append(first)
            return
        for one in keys:
            if one is None:
                if len(self.at) > 1:
                    self.at[-1].types.add(ITEM + WRITERS[name])
            else:
                self.at[-1].member(one).types.add(WRITERS[name])

    def write_run(self, name, given, caller):
        """Members in a text, or in the texts of a table that a run copies from."""
        texts = given[1]
        if name == "memcpy":
            rows = re.search(TABLE % re.match(r"&?(\w*)", given[1]).group(1), self.function.body, re.S)
            texts = rows.group(1) if rows else ""
        for text in STRING.findall(texts):
            for key, rest in MEMBER.findall(text):
                kind = VALUES.get(name) if rest == "" else VALUES["JSON_PUT_U64"] \
                    if rest[0].isdigit() else STARTS.get(rest[0])
                kind = VALUES.get(caller.group(1), kind) if caller and len(rest) < 3 else kind
                field = self.at[-1].member(key)
                field.types.add(kind or "any")
                if kind == "array":
                    field.types.add(ITEM + VALUES["JSON_PUT_U64"])

    def begin(self, events):
        """From here on, the fields are those of the record of this type."""
        if events and events[0] != MORE:
            self.at[:] = [self.records.record(events[0])]

    def call(self, name, given):
        target = self.sources.find(self.function.path, name)
        if name == "eve_begin":
            self.begin(STRING.findall(given[-1]))
        if target is None or name in COMMON or name in self.trail or len(self.trail) > DEPTH_MAX:
            return
        environment = {}
        for parameter, value in zip(target.parameters, given):
            if (self.function.path, value) in self.sources.functions:
                environment[parameter] = self.sources.find(self.function.path, value)
            elif self.keys(value) != [MORE]:
                environment[parameter] = self.keys(value)
        Walk(self.records, target, environment, self.at, self.trail + (name,)).run()

    def callbacks(self, given):
        """Functions given to one that is not followed itself, such as the visitor of a list."""
        for value in given:
            target = self.environment.get(value)
            if isinstance(target, Function):
                Walk(self.records, target, {}, self.at, self.trail + (value,)).run()
            elif (self.function.path, value) in self.sources.functions:
                self.call(value, [])

    def run(self):
        depth = len(self.at)
        code = self.function.body
        for match in CALL.finditer(code):
            name = match.group(1)
            if name in KEYWORDS:
                continue
            given, _ = arguments(code, match.end())
            if name in ("JSON_PUT", "JSON_PUT_U64", "memcpy"):
                self.write_run(name, given, CALLER.search(code[:match.start()]))
            if name in WRITERS or name in OPENERS:
                self.write(name, given)
            elif name in ("json_object_end", "json_array_end"):
                if len(self.at) > max(1, depth if self.trail[-1:] != ("eve_end",) else 1):
                    self.at.pop()
            elif (self.function.path, name) in self.sources.functions \
                    or any(JSON_ARGUMENT.fullmatch(v) for v in given):
                self.call(name, given)
            else:
                self.callbacks(given)


def member_of(text, name):
    match = re.search(r"\.%s = \"?([\w-]+)\"?" % name, text)
    return match.group(1) if match else None


class Records:
    """All records that the sources declare: event type -> Field."""

    def __init__(self):
        self.sources = Sources()
        self.of = {}
        self.types = set()                  # names under `types:` of an eve-log
        self.metadata = Field()             # of a transaction, in alerts and records of files
        for path, name in self.sources.metadata_writers():
            self.walk(path, name, [self.metadata])
        for kind, path, text in self.sources.declarations():
            (self.app_record if kind == "app_log" else self.eve_record)(path, text)
        self.common = self.written_by("eve_begin", "eve_end", "eve_xff_end")

    def record(self, event):
        return self.of.setdefault(event, Field())

    def walk(self, path, name, at):
        function = name and self.sources.find(path, name)
        if function:
            Walk(self, function, {}, at, (name,)).run()

    def written_by(self, *names):
        """The fields that these functions write into a record of any type."""
        root = Field()
        for name in names:
            self.walk("src/output/eve/common.c", name, [root])
        return root

    def app_record(self, path, text):
        """A `struct app_log`: one key with the protocol's object, or keys of the record's own."""
        root, key = self.record(member_of(text, "event_type")), member_of(text, "key")
        at = [root]
        self.types.add(member_of(text, "conf_name"))
        if key and key != "NULL":
            at.append(root.member(key))
            at[1].types.add("object")
        for hook in "log", "log_nth":
            self.walk(path, member_of(text, hook), list(at))

    def eve_record(self, path, text):
        """A `struct eve_type`: its functions say which record they begin."""
        name, sums = member_of(text, "name"), member_of(text, "left_out")
        if sums:                            # no type that users name
            self.walk(path, sums, [self.record(name)])
            return
        self.types.add(name)
        for hook in "packet", "tx", "flow", "stats":
            self.walk(path, member_of(text, hook), [Field()])


def show(field, name, indent):
    print("  " * indent + name, ",".join(sorted(field.types)))
    for key in sorted(field.members):
        show(field.members[key], key, indent + 1)


if __name__ == "__main__":
    for event, record in sorted(Records().of.items()):
        if len(sys.argv) < 2 or event in sys.argv[1:]:
            show(record, event, 0)
