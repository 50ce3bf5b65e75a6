"""`hunt`: what is known is named and is no failure, what is not is one, and a journal is kept."""

from __future__ import annotations

import sys

import pytest

from checker.core.exits import Exit
from tests.support.own import write_counter

SHORT = ("--rounds", 1, "--round-seconds", 5, "--seed", 1)
OLD = ("truncate_to_high_watermark", "--replicas", 3, "--log-size", 2, "--max-records", 2,
       "--max-leader-epoch", 2)  # fmt: skip


@pytest.fixture
def counter(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = set(sys.modules)
    yield write_counter(tmp_path)
    for name in sys.modules.keys() - before:
        if name.startswith("counter"):
            del sys.modules[name]


@pytest.mark.slow
def test_what_is_known_is_named_stored_and_no_failure(highwater, tmp_path):
    store = tmp_path / "journal.jsonl"
    ended = highwater("hunt", *OLD, *SHORT, "--store", store, "--trace-dir", tmp_path)
    assert ended.status == Exit.OK, ended.err
    assert "prevents it" in ended.out
    assert "nothing is violated that no entry of the catalogue explains" in ended.out
    assert list(tmp_path.glob("*.itf.json"))
    again = highwater("hunt", *OLD, *SHORT, "--store", store, "--json")
    assert (again.status, again.err) == (Exit.OK, "")
    assert again.json["unknown"] == []
    assert [each["size"] for each in again.json["together"]] == [2, 3]
    assert again.json["known"][0]["instance_of"]["change"]
    assert store.read_text().count("\n") == 1


@pytest.mark.slow
def test_what_no_entry_explains_is_a_failure(highwater, counter):
    ended = highwater("hunt", "counter.py", *SHORT, "--json")
    assert ended.status == Exit.VIOLATED, ended.err
    assert ended.json["known"] == []
    assert ended.json["unknown"][0]["instance_of"] is None
    assert "no entry explains: once" in highwater("hunt", "counter.py", *SHORT).out


def test_a_hunt_ends_when_its_time_is_over(highwater):
    ended = highwater("hunt", "kip320", "--max-seconds", 0, "--json")
    assert (ended.status, ended.json["rounds"]) == (Exit.LIMIT, 0)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(("kafka", "--preset", "4.9"), "4.9"), (("kip320", "--set", "sheep=1"), "sheep"),
     (("kip320", "--property", "sheep"), "sheep"), (("kip320", "--rounds", 0), "--rounds"),
     (("kip320", "--replicas", 99), "99"), (("kip320", "--store", "/nowhere/x"), "/nowhere/x")],
)  # fmt: skip
def test_wrong_usage_is_one_line(highwater, arguments, said):
    ended = highwater("hunt", *arguments)
    assert ended.status == Exit.USAGE
    assert said in ended.err and ended.err.count("\n") == 1
