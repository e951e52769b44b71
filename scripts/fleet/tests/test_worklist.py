# SPDX-License-Identifier: GPL-2.0-or-later
import gzip
import os
import tracemalloc

import pytest

from ids_fleet.captures import Capture, find
from ids_fleet.errors import FleetError
from ids_fleet.worklist import BATCH_GROUPS, LEAST_GROUPS, Task, Worklist, group_key


def work(tmp_path, captures, by="file", order="time", sensor=""):
    worklist = Worklist(str(tmp_path / "work.db"), order)
    twice = worklist.fill(captures, group_key(by, sensor))
    return worklist, twice


def many(count):
    return (Capture(f"/c/{i % 10}/{i}.pcap", i % 7 * 1000, i) for i in range(count))


def test_each_group_is_in_one_task_and_the_longest_come_first(tmp_path):
    worklist, twice = work(tmp_path, [*many(5000), *many(10)])
    totals = worklist.close()
    assert (totals.groups, totals.captures, twice) == (5000, 5000, 10)
    groups = [g for task in worklist.tasks(2) for g in task.groups]
    assert len({g.key for g in groups}) == len(groups) == 5000
    assert [g.size for g in groups] == sorted((g.size for g in groups), reverse=True)
    assert sum(g.size for g in groups) == totals.size


def test_small_groups_share_a_task_and_the_end_is_finer(tmp_path):
    worklist, _ = work(tmp_path, many(5000))
    worklist.close()
    sizes = [len(task.groups) for task in worklist.tasks(2)]
    assert max(sizes) <= BATCH_GROUPS
    assert sizes[-1] < sizes[0] and len(sizes) > 2 * 4


def test_no_task_is_too_small_to_be_worth_it(tmp_path):
    """All but the last, where there is more than a few of them to do."""
    for count, size in ((24, 1000), (600, 1000), (5000, 1000), (600, 0)):
        worklist, _ = work(tmp_path, (Capture(f"/c/{i}", size, i) for i in range(count)))
        worklist.close()
        sizes = [len(task.groups) for task in worklist.tasks(2)]
        assert min(sizes[:-1]) >= min(LEAST_GROUPS, count // 8) and len(sizes) >= 7


def test_a_large_group_is_alone(tmp_path):
    worklist, _ = work(tmp_path, [Capture("/big", 1 << 40, 0), *many(100)])
    worklist.close()
    assert [g.key for g in next(worklist.tasks(1)).groups] == ["/big"]


def test_captures_of_a_group_are_in_order(tmp_path):
    captures = [Capture("/s/c", 1, 1), Capture("/s/a", 1, 2), Capture("/s/b", 1, 2)]
    for order, want in (("time", ["/s/c", "/s/a", "/s/b"]), ("name", ["/s/a", "/s/b", "/s/c"])):
        worklist, _ = work(tmp_path, captures, "folder", order)
        worklist.close()
        (task,) = worklist.tasks(4)
        assert [c.url for c in task.groups[0].captures] == want


def test_groups_that_are_done_are_left_out(tmp_path):
    worklist, _ = work(tmp_path, many(100))
    worklist.skip(f"/c/{i % 10}/{i}.pcap" for i in range(0, 100, 2))
    assert worklist.close().groups == 50


def test_sensors(tmp_path):
    key = group_key("sensor", r"/sensor-(\w+)/")
    assert key(Capture("/x/sensor-a/2/1.pcap", 1, 1)) == "a"
    assert group_key("sensor", "")(Capture("/x", 1, 1, "b")) == "b"
    for wrong in (lambda: key(Capture("/x", 1, 1)),
                  lambda: group_key("sensor", "")(Capture("/x", 1, 1))):
        with pytest.raises(FleetError):
            wrong()


def test_a_task_is_named_by_its_content(tmp_path):
    worklist, _ = work(tmp_path, many(10))
    worklist.close()
    first, second, *_ = worklist.tasks(1)
    both = Task([*first.groups, *second.groups])
    assert Task(first.groups).name == first.name
    assert len({first.name, second.name, both.name}) == 3
    assert [g for t in both.split() for g in t.groups] == both.groups


def test_folders_patterns_and_manifests(tmp_path):
    for name in ("a/1.pcap", "a/2.pcap.gz", "b/3.pcapng", "b/readme.txt", "b/d/log.pcap.17"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * len(name))
    os.utime(tmp_path / "a/1.pcap", (5, 5))
    found = {os.path.relpath(c.url, tmp_path): c for c in find([str(tmp_path)])}
    assert sorted(found) == ["a/1.pcap", "a/2.pcap.gz", "b/3.pcapng", "b/d/log.pcap.17"]
    assert found["a/1.pcap"].size == 8 and found["a/1.pcap"].changed == 5_000_000_000
    assert {c.sensor for c in found.values()} == {"a", "b"}
    for pattern, count in (("*/*.pcap*", 3), ("**/*.pcap*", 4), ("a/?.pcap", 1), ("[b]/**", 3)):
        assert len(list(find([str(tmp_path / pattern)]))) == count, pattern
    manifest = tmp_path / "list.gz"
    with gzip.open(manifest, "wt") as f:
        f.write(f"# mine\n{tmp_path}/a/1.pcap\n\ns3://b/2.pcap\tsensor\t17\t2.5\n")
    one, two = find([f"@{manifest}"])
    assert (one.size, two) == (8, Capture("s3://b/2.pcap", 17, 2_500_000_000, "sensor"))


def test_mistakes_name_what_is_wrong(tmp_path):
    manifest = tmp_path / "list"
    for text in ("/c/1\ts\tmany\n", f"{tmp_path}\n", "/no/such/capture\n"):
        manifest.write_text(text)
        with pytest.raises(FleetError, match=r"many|folder|such"):
            list(find([f"@{manifest}"]))
    with pytest.raises(FleetError, match="nothing"):
        list(find(["/nothing/here"]))


def test_memory_does_not_grow_with_the_manifest(tmp_path):
    peaks = []
    for count in (1000, 12000):
        manifest = tmp_path / f"list-{count}"
        manifest.write_text("".join(f"/captures/{i:08d}.pcap\t\t{i}\t{i}\n" for i in range(count)))
        tracemalloc.start()
        worklist, _ = work(tmp_path, find([f"@{manifest}"]))
        worklist.close()
        assert sum(len(t.groups) for t in worklist.tasks(2)) == count
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] + (1 << 20)


def test_large_groups_are_split(tmp_path):
    captures = [Capture(f"/c/{name}/{n}", 100, n) for name, count in (("a", 10), ("b", 3))
                for n in range(count)]
    keys = []
    for done in ([], ["/c/a 2/3", "/c/b"]):
        work = Worklist(str(tmp_path / "w"), split=400)
        work.fill(captures, group_key("folder", ""))
        work.skip(done)
        totals = work.close()
        groups = [g for t in work.tasks(2) for g in t.groups]
        keys.append([(g.key, g.share, g.shares, g.size, len(g.captures)) for g in groups])
        assert totals.groups == len(groups)
        assert totals.captures == sum(g.counted for g in groups)
        assert totals.size == sum(g.size for g in groups)
        assert len({t.name for t in work.tasks(8)}) == len(list(work.tasks(8)))
    shares = [(f"/c/a {n}/3", n, 3, 333, 10) for n in (1, 2, 3)]
    assert keys == [[*shares, ("/c/b", 1, 1, 300, 3)], [shares[0], shares[2]]]
