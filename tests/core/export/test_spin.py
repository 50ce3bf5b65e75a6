"""Spin counts the states of exported Promela as `explore` does, and finds what it finds."""

from __future__ import annotations

from itertools import product

import pytest

from checker.core.export.exported import Exported, exportable
from checker.core.export.promela import as_promela
from checker.core.search.explore import Explorer
from checker.core.search.question import Options
from model.ladder import LADDER
from model.protocols import protocol_named
from properties import promised_properties, properties_of
from properties.claims import always
from tests.support import counted
from tests.support.lab import model_of
from tests.support.spin import run_spin
from tests.support.tiers import nightly
from tests.support.variants import MOST, tiny

pytestmark = pytest.mark.slow

MODELS = {name: lambda name=name: tiny(name) for name in MOST} | {
    "kafka at its default bounds": lambda: protocol_named("kafka").model(),
    "kafka_group at its default bounds": lambda: protocol_named("kafka_group").model(),
    "kip320 at its default bounds": lambda: protocol_named("kip320").model(),
}


LARGE = "Spin compiles a large program; the tiny model is counted each time"
LARGER = (*(name for name in MODELS if name.endswith("bounds")), "kafka_producer")


@pytest.mark.parametrize("name", [nightly(LARGE, n) if n in LARGER else n for n in MODELS])
def test_spin_counts_states_and_transitions_as_explore_does(name, tmp_path):
    model = MODELS[name]()
    found = Explorer(model, ()).run()
    answer = run_spin(as_promela(Exported(model, (), "")), tmp_path)
    assert (answer.states, answer.transitions) == (found.distinct_states, found.transitions + 1)


@pytest.mark.parametrize(
    "row",
    [
        row if row["snapshots"] == "1" else nightly("half a minute; another part of KRaft", row)
        for row in counted.ROWS
    ],
    ids=counted.name_of,
)
def test_spin_counts_kraft_with_every_fix_as_explore_does(row, tmp_path):
    model = counted.model_of_row(row)
    properties = exportable(properties_of(model.protocol), False)
    answer = run_spin(as_promela(Exported(model, properties, "")), tmp_path)
    assert answer.violated is None
    assert (answer.states, answer.transitions) == counted.counts_of(row)


BOUNDS = {"replicas": 3, "log_size": 2, "max_records": 2, "max_leader_epoch": 2}


EVERY_TIME = [("kip320", "strong_isr"), ("kip279", "strong_isr")]
"""One that holds, and one that fails."""


@pytest.mark.parametrize(
    ("name", "prop"),
    [
        each if each in EVERY_TIME else nightly("other rungs fail in the same ways", each)
        for each in product([protocol.name for protocol in LADDER], ["weak_isr", "strong_isr"])
    ],
)
def test_spin_finds_what_explore_finds_after_as_many_steps(name, prop, tmp_path):
    model = protocol_named(name).model(BOUNDS)
    properties = exportable(promised_properties(model, (prop,)), True)
    found = Explorer(model, properties, None, Options()).run()
    answer = run_spin(as_promela(Exported(model, properties, "")), tmp_path)
    expected = {violation.property.name: violation.depth for violation in found.violations}
    assert expected == ({answer.violated: answer.depth} if answer.violated else {})


def counts_down(s):
    s.n = s.n - 1


@always("never_falls_below", "a step that ends below -2 is wrong", of_steps=True)
def never_falls_below(s, t):
    return (t.n >= s.n) | (t.n > -3)


def test_spin_finds_a_claim_about_steps_false_in_the_step_that_breaks_it(tmp_path):
    model = model_of(counts_down)
    (violation,) = Explorer(model, (never_falls_below,)).run().violations
    answer = run_spin(as_promela(Exported(model, (never_falls_below,), "")), tmp_path)
    # What a step breaks is found while it is taken: Spin has not counted it yet.
    assert (answer.violated, answer.depth) == ("never_falls_below", violation.depth - 1)
