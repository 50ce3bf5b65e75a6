"""The ladder's golden numbers: states, depths and shortest violations, equal to TLC's.

`tests/golden/ladder.csv` holds what TLC counted on the public specification at the same bounds.
Depth counts transitions, one less than TLC's count of states.
`tests/golden/kraft.csv` holds what Spin and TLC count on what is exported of KRaft.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from checker.core.search.explore import Explorer
from checker.core.verdict import Verdict
from model.ladder import LADDER
from model.protocols import PROTOCOLS
from properties import choose_properties
from tests.support import counted
from tests.support.laws import check_ends_in_violation, explore, numbers
from tests.support.textbook import count_levels
from tests.support.tiers import first_and_nightly, first_and_slow, slow_but

GOLDEN = Path(__file__).parents[2] / "golden" / "ladder.csv"
BOUNDS = ("replicas", "log_size", "max_records", "max_leader_epoch")
ROWS = list(csv.DictReader(GOLDEN.read_text().splitlines()))
COUNTS = [row for row in ROWS if not row["property"]]
ANSWERS = [row for row in ROWS if row["property"]]


def _model(row):
    return PROTOCOLS[row["protocol"]].model({name: int(row[name]) for name in BOUNDS})


def _name(row):
    sizes = "-".join(row[name] for name in BOUNDS)
    return " ".join(filter(None, [row["protocol"], sizes, row["property"]]))


def test_the_golden_table_covers_every_rung():
    assert {row["protocol"] for row in COUNTS} == {protocol.name for protocol in LADDER}
    assert len(COUNTS) == 10
    assert len(ANSWERS) == 10


SMALLER = [row for row in COUNTS if row["max_leader_epoch"] == "1" or row["protocol"] == "kip320"]


@pytest.mark.parametrize("row", slow_but(SMALLER, COUNTS), ids=_name)
def test_states_and_depth_equal_those_of_tlc(row):
    found = explore(_model(row))
    assert found.distinct_states == int(row["distinct"])
    assert found.depth == int(row["depth"])
    assert found.verdict is Verdict.EXHAUSTED


@pytest.mark.slow
@pytest.mark.parametrize("row", counted.ROWS, ids=counted.name_of)
def test_states_and_transitions_of_kraft_equal_those_of_spin_and_tlc(row):
    found = explore(counted.model_of_row(row))
    assert (found.distinct_states, found.transitions + 1) == counted.counts_of(row)
    assert found.depth == int(row["depth"])
    assert found.verdict is Verdict.EXHAUSTED


@pytest.mark.parametrize("row", ANSWERS, ids=_name)
def test_the_shortest_violation_is_as_long_as_that_of_tlc(row):
    model = _model(row)
    (prop,) = choose_properties(model.protocol, [row["property"]])
    found = explore(model, [prop])
    if row["violated_at"]:
        (violation,) = found.violations
        assert violation.depth == int(row["violated_at"])
        check_ends_in_violation(model, prop, numbers(violation.steps))
    else:
        assert found.verdict is Verdict.EXHAUSTED
        assert not found.is_vacuous(prop)


SMALLEST = [row for row in COUNTS if row["max_leader_epoch"] == "1"]


@pytest.mark.nightly("half a minute for each rung; smaller models are compared each time")
@pytest.mark.parametrize("row", SMALLEST, ids=_name)
def test_the_reference_engine_counts_the_same_states_level_by_level(row):
    model = _model(row)
    levels = count_levels(model)
    assert sum(levels) == int(row["distinct"])
    assert len(levels) - 1 == int(row["depth"])
    assert Explorer(model, []).run().levels == levels


@pytest.mark.slow
@pytest.mark.parametrize(
    "sizes, states, depth",
    first_and_nightly(
        "half a minute and more for tens of millions of states",
        ((3, 3, 3, 2), 4_093_531, 30),
        ((3, 2, 2, 3), 9_985_570, 31),
        ((3, 3, 3, 3), 64_739_578, 36),
    ),
)
def test_larger_models_of_kip320_have_the_states_that_a_prototype_counted(sizes, states, depth):
    model = PROTOCOLS["kip320"].model(dict(zip(BOUNDS, sizes, strict=True)))
    found = explore(model, choose_properties(model.protocol, ["weak_isr", "strong_isr"]))
    assert found.distinct_states == states
    assert found.depth == depth
    assert found.verdict is Verdict.EXHAUSTED


@pytest.mark.parametrize(
    "setting, weak, strong",
    slow_but(
        [("fence_fetch", 12, None)],
        [
            ("wait_for_epoch", 13, 11),
            ("fence_truncation", 13, 13),
            ("fence_high_watermark", 12, 12),
            ("fence_fetch", 12, None),
        ],
    ),
)
def test_each_fence_of_kip320_prevents_a_violation(setting, weak, strong):
    model = PROTOCOLS["kip320"].model(settings={setting: False})
    for name, depth in (("weak_isr", weak), ("strong_isr", strong)):
        found = explore(model, choose_properties(model.protocol, [name]))
        assert [violation.depth for violation in found.violations] == ([depth] if depth else [])
        assert found.stopped == ""


@pytest.mark.parametrize("name", ["kip279", "kip320_first_try", "kip320"])
def test_two_replicas_are_too_few_to_show_what_kip320_mends(name):
    model = PROTOCOLS[name].model({"replicas": 2})
    found = explore(model, choose_properties(model.protocol, ["weak_isr", "strong_isr"]))
    assert found.verdict is Verdict.EXHAUSTED


@pytest.mark.parametrize(
    "max_offset, max_version, states, depth",
    first_and_slow((1, 2, 1_460, 13), (2, 2, 4_088, 16)),
)
@pytest.mark.parametrize("maximal_isr", [True, False])
def test_asynchronous_isr_updates_have_the_states_that_tlc_counts(
    max_offset, max_version, states, depth, maximal_isr
):
    model = PROTOCOLS["async_isr"].model(
        {"replicas": 3, "max_offset": max_offset, "max_version": max_version}
    )
    found = explore(model)
    assert (found.distinct_states, found.depth) == (states, depth)
    assert sum(count_levels(model)) == states
    if maximal_isr:
        settled = explore(model, choose_properties(model.protocol, ["valid_high_watermark"]))
        assert settled.verdict is Verdict.EXHAUSTED


def test_a_high_watermark_over_the_committed_isr_alone_is_wrong_after_six_steps():
    model = PROTOCOLS["async_isr"].model(
        {"replicas": 3, "max_offset": 2, "max_version": 3}, {"maximal_isr": False}
    )
    (prop,) = choose_properties(model.protocol, ["valid_high_watermark"])
    (violation,) = explore(model, [prop]).violations
    assert violation.depth == 6
    check_ends_in_violation(model, prop, numbers(violation.steps))
    fixed = PROTOCOLS["async_isr"].model(model.bounds)
    assert explore(fixed, [prop]).verdict is Verdict.EXHAUSTED
