# SPDX-License-Identifier: GPL-2.0-or-later
import hashlib
import json

import duckdb
import pytest
from pyarrow import parquet

from ids_fleet import records
from ids_fleet.records import Converter, Source, record_of, same

TIME = "2024-05-06T07:08:09.123456+0000"
BASE = {"timestamp": TIME, "flow_id": 1, "event_type": "dns", "src_ip": "10.0.0.1"}
ODD = [
    {}, {"dns": {"id": 7, "rrname": "a"}}, {"dns": {"id": "7"}}, {"dns": {"id": 2**64 - 1}},
    {"dns": {"id": -2**63}}, {"new": {"deep": [1, {"x": None}]}}, {"dns": {"new": 1, "rd": True}},
    {"dns": {"queries": [{"rrname": "a", "new": 1}, {}]}}, {"dns": {"queries": []}}, {"dns": {}},
    {"dns": {"rrname": "a\u0000b \" \\ \u00e9 \U0001f600 '"}}, {"dns": None}, {"vlan": [1, 2]},
    {"vlan": 3}, {"vlan": [1, "x"]}, {"dns": {"grouped": {"A": ["1.2.3.4"], "new": [{}]}}},
    {"src_port": 1.5}, {"src_port": 1e300}, {"flow_id": 12345678901234567890},
    {"flow_id": 9007199254740993}, {"event_type": "alert", "alert": {"signature_id": 1}},
    {"event_type": "../odd"}, {"timestamp": "never"}, {"fleet_group": "mine"}, {"time": 1},
    {"new": None}, {"dns": {"new": None}}, {"dns": {"queries": [{"rrname": "a", "new": None}, {}]}},
    {"SRC_IP": "other case"}, {"metadata": {"flowints": {"x": 1}}},
]


def read(made, event):
    found = []
    for name, local in made.files.items():
        if f"event_type={event}/" in name:
            cursor = duckdb.execute(f"SELECT * FROM '{local}' ORDER BY fleet_line")
            names = [c[0] for c in cursor.description]
            found += [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    return found


def write(path, records):
    lines = [json.dumps(r, separators=(",", ":")) for r in records]
    path.write_text("".join(f"{line}\n" for line in lines))
    return lines


@pytest.mark.parametrize("ascii_only", [True, False])
def test_records_come_back_from_their_columns(tmp_path, ascii_only):
    lines = [json.dumps({**BASE, **odd}, ensure_ascii=ascii_only) for odd in ODD]
    path = tmp_path / "eve.json"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    made = Converter(str(tmp_path / "db")).convert([Source("g", str(path), [])], "task")
    assert made.records == {"g": len(ODD)}
    rows = [(e, row) for e in ("dns", "alert", "other") for row in read(made, e)]
    assert len(rows) == len(ODD)
    for event, row in rows:
        line = lines[row["fleet_line"] - 1]
        assert bytes(row["fleet_digest"]) == hashlib.md5(line.encode()).digest()
        rebuilt = record_of(event, row)
        if event == "other":            # a name that makes no folder is in no column
            rebuilt["event_type"] = json.loads(line)["event_type"]
        assert same(rebuilt, line), (rebuilt, line)


def test_types_are_columns_and_days_are_folders(tmp_path):
    path = tmp_path / "eve.json"
    write(path, [BASE, {**BASE, "timestamp": "2024-05-07T00:00:00.000000+0000",
                        "dns": {"id": 3}}, {**BASE, "event_type": "alert"}])
    made = Converter(str(tmp_path / "db")).convert([Source("g", str(path), [])], "task")
    assert sorted(made.files) == [
        "alerts/task.jsonl", "events/event_type=alert/date=2024-05-06/task.parquet",
        "events/event_type=dns/date=2024-05-06/task.parquet",
        "events/event_type=dns/date=2024-05-07/task.parquet"]
    assert made.alerts == {"g": 1}
    local = made.files["events/event_type=dns/date=2024-05-07/task.parquet"]
    assert duckdb.execute(f"SELECT typeof(flow_id), typeof(time), dns.id + 1 FROM '{local}'"
                          ).fetchone() == ("BIGINT", "TIMESTAMP", 4)
    with open(made.files["alerts/task.jsonl"], encoding="utf-8") as f:
        assert json.loads(f.read())["event_type"] == "alert"


def test_several_groups_and_replaced_texts(tmp_path):
    sources = []
    for number in range(3):
        path = tmp_path / f"{number}.json"
        write(path, [{**BASE, "pcap_filename": "/here/0.pcap", "flow_id": i}
                     for i in range(number)])
        sources.append(Source(f"g{number}", str(path), [("/here/0.pcap", f"s3://b/{number}")]))
    converter = Converter(str(tmp_path / "db"))
    made = converter.convert(sources, "task")
    assert made.records == {"g0": 0, "g1": 1, "g2": 2}
    rows = read(made, "dns")
    assert [(r["fleet_group"], r["fleet_line"]) for r in rows] == [("g1", 1), ("g2", 1), ("g2", 2)]
    assert {r["pcap_filename"] for r in rows} == {"s3://b/1", "s3://b/2"}
    assert converter.convert(sources[:1], "none").files == {}


def test_a_line_that_is_no_record_is_an_error(tmp_path):
    path = tmp_path / "eve.json"
    path.write_text('{"event_type":"dns"}\n{"event_ty')
    for text in ('{"event_type":"dns"}\n{"event_ty', '["dns"]\n', '{"a":1} x\n',
                 json.dumps(BASE, separators=(",", ":")) + " x\n", '{"a":"\udcff"}\n'):
        path.write_bytes(text.encode(errors="surrogateescape"))
        with pytest.raises(ValueError):
            Converter(str(tmp_path / "db")).convert([Source("g", str(path), [])], "task")


def check_all(made, lines):
    """Each line is in the columns, once and as it was."""
    rows = sorted(((row["fleet_line"], event, row) for event in ("alert", "dns")
                   for row in read(made, event)), key=lambda found: found[0])
    assert [number for number, _, _ in rows] == list(range(1, len(lines) + 1))
    for number, event, row in rows:
        line = lines[number - 1]
        assert bytes(row["fleet_digest"]) == hashlib.md5(line.encode()).digest()
        assert same(record_of(event, row), line), (row, line)


@pytest.mark.parametrize("block_bytes", [records.BLOCK_BYTES, 20000])
def test_rare_records_among_many_plain_ones(tmp_path, monkeypatch, block_bytes):
    """Most lines never become an object of Python; those that must do are found among them. What
    the converter has seen in one task must do no harm in the next."""
    monkeypatch.setattr(records, "BLOCK_BYTES", block_bytes)
    odd = [o for o in ODD if o.get("event_type") != "../odd" and o.get("timestamp") != "never"]
    odd += [{"metadata": "text"}, {"metadata": {"flowints": "text"}}, {"dns": {"grouped": "{}"}},
            {"dns": {"rrname": '"event_type":"x","grouped"'}}, {"dns": {"rrname": "\ud800"}},
            {"dns": {"answers": [{"rrname": "b", "srv": "text"}, None, {}]}},
            {"dns": {"answers": []}}]
    plain = [{**BASE, "flow_id": n, "dns": {"id": n, "rrname": f"a{n}"}} for n in range(3000)]
    for place, o in enumerate(odd):
        plain.insert(place * 71, {**BASE, **o})
    path, converter = tmp_path / "eve.json", Converter(str(tmp_path / "db"))
    for turn in (plain, plain[::-1]):
        lines = write(path, turn)
        made = converter.convert([Source("g", str(path), [])], "task")
        check_all(made, lines)
    parts = [name for name in made.files if "event_type=dns" in name]
    assert (len(parts) > 1) == (block_bytes == 20000)
    names = [made.files[name] for name in made.files if name.endswith(".parquet")]
    columns = duckdb.execute(f"SELECT count(DISTINCT typeof(dns)) FROM read_parquet({names}, "
                             "union_by_name = true)").fetchone()
    assert columns == (1,)


def test_times_are_in_utc(tmp_path):
    path = tmp_path / "eve.json"
    write(path, [{**BASE, "timestamp": stamp} for stamp in
                 (TIME, "2024-05-06T09:08:09.123456+0200", "2024-05-06T25:00:00", "2024-05-06")])
    made = Converter(str(tmp_path / "db")).convert([Source("g", str(path), [])], "task")
    found = [row["time"] and row["time"].isoformat() for row in read(made, "dns")]
    assert found == ["2024-05-06T07:08:09.123456"] * 2 + [None, None]


def test_many_days_keep_few_files_open(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "OPEN_MAX", 3)
    monkeypatch.setattr(records, "BLOCK_BYTES", 1000)
    path = tmp_path / "eve.json"
    lines = write(path, [{**BASE, "timestamp": f"2024-05-{1 + n % 9:02}T00:00:00.000000+0000"}
                         for n in range(300)])
    made = Converter(str(tmp_path / "db")).convert([Source("g", str(path), [])], "task")
    assert len({name.rsplit("/", 1)[0] for name in made.files}) == 9
    check_all(made, lines)


def test_leaves_without_values_cost_little(tmp_path, monkeypatch):
    """They are not compressed where one row group is all; in others values may follow."""
    path = tmp_path / "eve.json"
    write(path, [{**BASE, "dns": {"rrname": "a" * 100, "queries": [{"rrname": "b"}]}}] * 50)
    for block, compressed in ((records.BLOCK_BYTES, lambda c: c.statistics.has_min_max),
                              (2000, lambda _: True)):
        monkeypatch.setattr(records, "BLOCK_BYTES", block)
        made = Converter(str(tmp_path / f"db-{block}")).convert([Source("g", str(path), [])], "t")
        (file,) = (local for name, local in made.files.items() if name.endswith(".parquet"))
        data = parquet.ParquetFile(file).metadata
        leaves = [data.row_group(0).column(i) for i in range(data.num_columns)]
        names = {c.path_in_schema for c in leaves}
        assert names > {"dns.rrname", "dns.queries.list.element.rrname"}
        assert not all(c.statistics.has_min_max for c in leaves if c.statistics)
        for leaf in leaves:
            assert (leaf.compression == "ZSTD") == compressed(leaf), leaf.path_in_schema
        assert len(read(made, "dns")) == 50
