# SPDX-License-Identifier: GPL-2.0-or-later
import errno
import shutil

import pytest

from ids_fleet import captures, results, store
from ids_fleet.errors import FleetError, StoreError
from ids_fleet.store import Store, retry


@pytest.fixture
def local(tmp_path):
    path = tmp_path / "local"
    path.write_text("content")
    return str(path)


def test_a_file_appears_whole(tmp_path, local):
    place = Store(str(tmp_path / "out"))
    place.put(local, "a/b/c")
    assert (tmp_path / "out/a/b/c").read_text() == "content"
    assert list(place.names("a")) == ["a/b/c"]
    place.write_json("x.json", {"k": [1]}, str(tmp_path))
    assert place.read_json("x.json") == {"k": [1]}
    place.remove("x.json")
    place.remove("x.json")
    assert not place.exists("x.json")


def test_a_full_disk_is_said_and_leaves_nothing(tmp_path, local, monkeypatch):
    def half(source, target):
        with open(target, "w") as f:
            f.write("con")
        raise OSError(errno.ENOSPC, "No space left on device")
    monkeypatch.setattr(shutil, "copyfile", half)
    with pytest.raises(StoreError, match="No space"):
        Store(str(tmp_path / "out")).put(local, "a/b")
    assert list((tmp_path / "out/a").iterdir()) == []


def test_a_slow_store_is_asked_again(monkeypatch):
    monkeypatch.setattr(store, "FIRST_WAIT_S", 0.001)
    calls = []

    def slow():
        calls.append(1)
        if len(calls) < store.TRIES:
            raise TimeoutError("slow")
        return "answer"
    assert retry("x", slow) == "answer"
    assert len(calls) == store.TRIES


def test_a_store_that_stays_away_is_an_error(monkeypatch):
    monkeypatch.setattr(store, "FIRST_WAIT_S", 0.001)
    calls = []

    def away(error):
        calls.append(1)
        raise error
    with pytest.raises(StoreError, match=r"x: away \(tried 4 times\)"):
        retry("x", lambda: away(ConnectionError("away")))
    assert len(calls) == store.TRIES
    with pytest.raises(FileNotFoundError):
        retry("x", lambda: away(FileNotFoundError("none")))
    assert len(calls) == store.TRIES + 1


def test_only_the_run_in_force_commits(tmp_path):
    place = Store(str(tmp_path / "out"))
    done = results.Done("t", [results.GroupState("g", 1, 5)])
    with pytest.raises(FleetError, match="no results"):
        list(results.read_done(place))
    place.write_json(results.RUN, {"epoch": "new"}, str(tmp_path))
    with pytest.raises(StoreError, match="taken over"):
        results.commit(place, done, "old", str(tmp_path))
    assert list(results.read_done(place)) == []
    results.commit(place, done, "new", str(tmp_path))
    assert list(results.read_done(place)) == [done]


def test_what_a_killed_worker_left_is_removed(tmp_path, local):
    place = Store(str(tmp_path / "out"))
    place.write_json(results.RUN, {"epoch": "e"}, str(tmp_path))
    results.commit(place, results.Done("good", []), "e", str(tmp_path))
    for name in ("events/event_type=dns/date=d/good.parquet", "alerts/good.jsonl", "alerts/x.jsonl",
                 "events/event_type=dns/date=d/lost.parquet", "alerts/good.jsonl.7.part",
                 "_fleet/done/y.json.9.part", "files/ab/abcd"):
        place.put(local, name)
    assert results.sweep(place) == 4
    assert sorted(n for f in ("events", "alerts", "files") for n in place.names(f)) == [
        "alerts/good.jsonl", "events/event_type=dns/date=d/good.parquet", "files/ab/abcd"]
    assert len(list(results.read_done(place))) == 1


class ForeignError(Exception):
    """As those of a library, which are no OSError."""


class CredentialsError(ForeignError):
    pass


def answered(status):
    """An OSError of s3fs: the answer of the store is in its cause."""
    error, cause = OSError(errno.EIO, "said"), ForeignError()
    cause.response = {"ResponseMetadata": {"HTTPStatusCode": status}}
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(("error", "raised", "tries"), [
    (ForeignError("reset"), StoreError, store.TRIES), (answered(503), StoreError, store.TRIES),
    (answered(429), StoreError, store.TRIES), (answered(400), OSError, 1),
    (CredentialsError("none"), FleetError, 1), (PermissionError("no"), PermissionError, 1),
    (OSError(errno.EDQUOT, "quota"), StoreError, 1), (TypeError("a mistake"), TypeError, 1)])
def test_errors_of_libraries_become_ours(monkeypatch, error, raised, tries):
    monkeypatch.setattr(store, "FIRST_WAIT_S", 0.001)
    calls = []

    def action():
        calls.append(1)
        raise error
    with pytest.raises(raised) as caught:
        retry("x", action)
    assert type(caught.value) is raised and len(calls) == tries


def test_a_folder_that_cannot_be_read_is_no_empty_one(tmp_path, local, monkeypatch):
    place = Store(str(tmp_path / "out"))
    place.put(local, "a/b/c")
    assert list(place.names("none")) == []
    whole = place.fs.ls

    def ls(path, **more):
        if path.endswith("/a/b"):
            raise PermissionError(errno.EACCES, "Permission denied")
        return whole(path, **more)
    monkeypatch.setattr(place.fs, "ls", ls)
    with pytest.raises(StoreError, match="Permission denied"):
        list(place.names("a"))
    with pytest.raises(FleetError, match="Permission denied"):
        list(captures.find([str(tmp_path / "out")]))
