"""Traces as files: what is written can be read back, and says what it is."""

from __future__ import annotations

import json

import pytest

from checker.core.traces.itf import read_trace, trace_as_itf, write_trace
from checker.core.traces.trace import build_trace
from tests.support.traces import (
    EVERY_PROTOCOL,
    golden_kip279,
    places,
    random_walk,
    same,
    verdicts,
)

GOLDEN = golden_kip279()
DOCUMENT = json.loads(trace_as_itf(GOLDEN))


@pytest.mark.parametrize("name", EVERY_PROTOCOL)
@pytest.mark.parametrize("seed", [1])
def test_every_walk_of_every_protocol_survives_the_file(name, seed, tmp_path):
    trace = random_walk(EVERY_PROTOCOL[name].model(), 12, seed)
    write_trace(trace, tmp_path / "walk.itf.json")
    assert same(read_trace(tmp_path / "walk.itf.json", EVERY_PROTOCOL), trace)


@pytest.mark.parametrize("trace", verdicts())
def test_a_verdict_survives_the_file(trace, tmp_path):
    write_trace(trace, tmp_path / "found.itf.json")
    again = read_trace(str(tmp_path / "found.itf.json"))
    assert same(again, trace)
    assert again.explanation == trace.explanation


def test_the_same_trace_gives_the_same_bytes(tmp_path):
    write_trace(GOLDEN, tmp_path / "first")
    write_trace(golden_kip279(), tmp_path / "second")
    write_trace(read_trace(tmp_path / "first"), tmp_path / "third")
    first, *others = [(tmp_path / name).read_bytes() for name in ("first", "second", "third")]
    assert [first, first] == others


def test_a_state_with_something_beyond_the_end_of_a_log_survives_the_file(tmp_path):
    before = list(GOLDEN.states[-2])
    before[GOLDEN.model.positions["replicas.log.id", (1, 1)]] = 1
    trace = build_trace(GOLDEN.model, GOLDEN.steps[-1:], "strong_isr", start=tuple(before))
    write_trace(trace, tmp_path / "induction.itf.json")
    assert same(read_trace(tmp_path / "induction.itf.json"), trace)


def test_the_file_is_informal_trace_format():
    """ADR-015: no bare numbers in values, integers as decimal strings, one entry a state."""
    assert list(DOCUMENT) == ["#meta", "vars", "states"]
    assert len(DOCUMENT["states"]) == GOLDEN.depth + 1
    for state in DOCUMENT["states"]:
        assert sorted(state) == sorted(["#meta", *DOCUMENT["vars"]])
        for path, value in places({name: state[name] for name in DOCUMENT["vars"]}):
            assert isinstance(value, bool | str | dict | list), (path, value)
            if isinstance(value, dict) and any(key.startswith("#") for key in value):
                assert list(value) in (["#bigint"], ["#set"], ["#map"])


def test_members_are_keyed_by_name_and_rows_by_number():
    state = DOCUMENT["states"][1]
    assert [key for key, _ in state["replicas"]["#map"]] == ["r0", "r1", "r2"]
    assert [key for key, _ in state["requests"]["#map"]] == [{"#bigint": str(k)} for k in range(3)]
    assert state["quorum"]["leader"] == "r0"
    assert state["replicas"]["#map"][0][1]["leader"] == "none"
    assert state["#meta"] == {
        "index": 1, "action": "controller_elect_leader", "parameters": {"leader": "r0"},
    }  # fmt: skip


def test_the_top_says_what_the_trace_is_of():
    meta = DOCUMENT["#meta"]
    assert meta["protocol"] == "kip279"
    assert meta["bounds"] == {
        "replicas": 3, "log_size": 2, "max_records": 2, "max_leader_epoch": 2,
    }  # fmt: skip
    assert (meta["property"], meta["verdict"], meta["depth"]) == ("strong_isr", "violated", 10)


def test_each_state_is_a_block_of_lines():
    text = trace_as_itf(GOLDEN)
    assert text.count('\n      "#meta": {"index": ') == len(GOLDEN.states)
    assert max(map(len, text.splitlines())) < 250
