"""Replicas on disks as a state of the model, held against the records that were written."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checker.core.traces.itf_values import plain_state, state_of
from checker.kafka.audit.as_state import MOST, as_state
from checker.kafka.audit.directories import find_replicas
from checker.kafka.audit.judgement import judge
from checker.telling.browse.given import read_state
from checker.telling.browse.walk import Walk
from model.language.errors import UsageError
from model.protocols import protocol_named
from properties import choose_properties
from tests.support.kafka_logs import Disk, Wanted

tried = settings(max_examples=40, deadline=None)
Records = list[tuple[int, bytes]]


def log_of(records: Records, start: int = 0) -> list[Wanted]:
    """A batch for each record, so that no offset lies where a batch begins by chance alone."""
    return [Wanted(start + k, epoch, (value,)) for k, (epoch, value) in enumerate(records)]


def found_of(*disks: Disk):
    with TemporaryDirectory() as directory:
        paths = [
            replace(disk, broker=place).write(Path(directory) / str(place))
            for place, disk in enumerate(disks)
        ]
        (group,) = find_replicas(paths).groups
        return as_state(judge(group))


@st.composite
def branches(draw) -> list[Records]:
    """Logs as replicas have them: parts of one history, each perhaps with another end."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    history = [(2 * k, b"h%d.%d" % (k, n)) for k, size in enumerate(sizes) for n in range(size)]
    logs = []
    for place in range(draw(st.integers(1, 3))):
        kept = history[: draw(st.integers(0, len(history)))]
        epoch = (kept[-1][0] if kept else 0) + draw(st.sampled_from([0, 1, 3]))
        more = draw(st.sampled_from([0, 0, 1, 3]))
        logs.append(kept + [(epoch, b"own%d.%d" % (place, n)) for n in range(more)])
    return logs


@tried
@given(branches(), st.data())
def test_what_is_alike_on_the_disks_is_alike_in_the_state_and_nothing_else(logs, data):
    highs = [data.draw(st.integers(0, len(log) + 1), label="high watermark") for log in logs]
    disks = [
        Disk(log_of(log), high_watermark=high) for log, high in zip(logs, highs, strict=True)
    ]  # fmt: skip
    try:
        found = found_of(*disks)
    except UsageError as error:
        assert "too many ways" in str(error)
        return
    brokers = [broker for _, broker in found.state["brokers"]["#map"]]
    known: dict[int, tuple[int, tuple[tuple[int, bytes], ...]]] = {}
    for log, high, broker in zip(logs, highs, brokers, strict=True):
        runs = [run for run in found.offsets if run[0] < len(log)]
        assert [until for _, until in runs][-1:] in ([], [len(log)])
        assert len(broker["log"]) == len(runs)
        for (begin, until), entry in zip(runs, broker["log"], strict=True):
            records = tuple(log[begin:until])
            assert entry["epoch"] == found.epochs[records[-1][0]]
            assert known.setdefault(entry["id"], (begin, records)) == (begin, records)
        assert broker["high_watermark"] == sum(until <= high for _, until in found.offsets)
        assert high in {0, *(until for _, until in found.offsets)}
    assert len(set(known.values())) == len(known) == found.state["next_record"]
    assert list(found.epochs.values()) == sorted(found.epochs.values())
    assert list(found.epochs) == sorted(found.epochs)


@pytest.mark.slow
@settings(max_examples=4, deadline=None)
@given(branches(), st.data())
def test_the_state_is_one_of_the_model_in_which_a_walk_goes_on(logs, data):
    highs = [data.draw(st.integers(0, len(log))) for log in logs]
    try:
        found = found_of(
            *(Disk(log_of(log), high_watermark=h) for log, h in zip(logs, highs, strict=True))
        )
    except UsageError:
        return
    model = protocol_named("kafka").model(dict(found.bounds))
    state = state_of(model, json.loads(json.dumps(found.data()))["state"])
    whole = plain_state(model, state)
    told = [broker for _, broker in found.state["brokers"]["#map"]]
    read = [broker for _, broker in whole["brokers"]["#map"]]
    assert [broker | some for broker, some in zip(read, told, strict=True)] == read
    assert {broker["up"] for broker in read} == {False}
    walk = Walk(model)
    enabled = [step["action"] for step in walk.enabled(walk.begin(found.state))]
    assert enabled.count("broker_restart") == len(logs)


def test_long_runs_become_one_record_each():
    common = [(0, b"c%d" % k) for k in range(50)]
    longer = [*common, *((1, b"a%d" % k) for k in range(300))]
    other = [*common, *((3, b"b%d" % k) for k in range(7))]
    found = found_of(
        Disk(log_of(longer), high_watermark=350), Disk(log_of(other), high_watermark=57)
    )
    assert found.offsets == ((0, 50), (50, 57), (57, 350))
    assert dict(found.epochs) == {0: 0, 1: 1, 3: 2}
    exposed = [value["exposed"] for _, value in found.state["offsets"]["#map"]]
    (_, first), (_, second) = found.state["brokers"]["#map"]
    assert [entry["id"] for entry in first["log"]] == exposed[:3] and exposed[3] == -1
    assert first["log"][1]["id"] != second["log"][1]["id"]
    assert found.state["controller"]["isr"] == {"#set": ["b1"]}
    assert any("0 to 49" in words for words in found.notes)


def test_records_of_one_epoch_that_differ_are_two_records():
    logs = [[(0, b"a"), (0, b"b"), (0, b"c")], [(0, b"a"), (0, b"x"), (0, b"y")]]
    found = found_of(*(Disk(log_of(log), high_watermark=3) for log in logs))
    ids = [[entry["id"] for entry in broker["log"]] for _, broker in found.state["brokers"]["#map"]]
    assert ids == [[0, 1], [0, 2]]


def test_the_state_shows_the_loss_that_audit_found(tmp_path):
    """The leader of the later epoch lacks a record that was exposed."""
    logs = [[(0, b"a"), (4, b"w")], [(0, b"a"), (2, b"x")]]
    file = tmp_path / "state.json"
    found = found_of(*(Disk(log_of(log), high_watermark=2) for log in logs))
    file.write_text(json.dumps(found.data()))
    given_state = read_state(file)
    kafka = protocol_named("kafka")
    (lost,) = choose_properties(kafka, ["exposed_records_survive"])
    walk = Walk(kafka.model(dict(given_state.bounds)), (lost,))
    at = walk.begin(given_state.values, given_state.words)
    assert walk.visited[at].words == "orders-0 as it was found on disks, perhaps unreachable"
    near = walk.near(at, 6, 60)
    assert near.found is lost
    assert near.steps[0].action.name == "broker_restart"


@pytest.mark.parametrize(
    "disks, why",
    [
        (
            [Disk(log_of([(0, b"a")])), Disk(log_of([(0, b"b")], 9), log_start=9)],
            "ends at 1, below 9",
        ),
        (
            [Disk([Wanted(0, 0, (b"a", None, b"c"))]), Disk([Wanted(0, 0, (b"a", b"b", b"c"))])],
            "broker 0 has holes where another has records",
        ),
        ([Disk([Wanted(0, -1, (b"a",))], epochs=[])], "without a leader epoch"),
        ([Disk(log_of([(k, b"a") for k in range(MOST + 2)]))], "too many ways: 10 runs"),
    ],
)  # fmt: skip
def test_what_is_no_state_is_refused_and_says_why(disks, why):
    with pytest.raises(UsageError, match=why) as refused:
        found_of(*disks)
    assert "\n" not in str(refused.value)
    assert str(refused.value).startswith("orders-0 is no state of the model: ")


def test_a_hole_that_all_have_is_none():
    """Compaction has left it, on all replicas alike, even where an epoch begins."""
    batches = [Wanted(0, 0, (b"a", None, b"c")), Wanted(9, 1, (b"d",))]
    found = found_of(Disk(batches, high_watermark=10), Disk(batches[:1], high_watermark=3))
    assert found.offsets == ((0, 3), (3, 9), (9, 10))
    logs = [broker["log"] for _, broker in found.state["brokers"]["#map"]]
    assert [[entry["epoch"] for entry in log] for log in logs] == [[0, 0, 1], [0]]


def test_a_log_that_is_damaged_is_refused(tmp_path):
    directory = Disk(log_of([(0, b"a"), (0, b"b")]), high_watermark=2).write(tmp_path / "0")
    (segment,) = (directory / "orders-0").glob("*.log")
    segment.write_bytes(segment.read_bytes()[:-3])
    (group,) = find_replicas([directory]).groups
    with pytest.raises(UsageError, match="no whole batch at offset 1"):
        as_state(judge(group))
