"""Minimising: the run that is left still violates, is no longer, and often is the shortest."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checker.core.search.explore import Explorer
from checker.core.search.minimise import minimise
from checker.core.search.simulate import Budget, Simulator
from checker.core.traces.trace import build_trace
from model.language import every
from model.protocols import protocol_named
from properties import choose_properties
from properties.claims import always
from tests.support.tiers import first_and_slow


def found(name: str, seed: int):
    """Model, engine, property and a run into a violation of strong_isr."""
    model = protocol_named(name).model()
    simulator = Simulator(model, choose_properties(model.protocol, ["strong_isr"]), seed)
    finding = simulator.run().violations[0]
    return model, simulator.engine, finding


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "depth"), first_and_slow(("kip101", 10), ("kip320_first_try", 12))
)
def test_at_small_sizes_the_shortest_run_is_left(name, depth):
    model, engine, finding = found(name, seed=11)
    short = minimise(model, finding.steps, finding.property, engine)
    assert short.is_shortest
    assert build_trace(model, short.steps, finding.property).depth == depth


@pytest.mark.slow
@settings(max_examples=2, deadline=None)
@given(seed=st.integers(0, 1_000))
def test_without_room_to_search_the_run_still_violates_and_is_no_longer(seed):
    model, engine, finding = found("truncate_to_high_watermark", seed)
    short = minimise(model, finding.steps, finding.property, engine, search_states=10)
    assert build_trace(model, short.steps, finding.property).verdict == "violated"
    assert 8 <= len(short.steps) <= len(finding.steps)


@always("ends_never_fall", "no log becomes shorter", of_steps=True)
def ends_never_fall(before, after):
    return every(after.replicas[r].log.end >= r.log.end for r in before.replicas)


def test_properties_of_steps_are_minimised_too():
    model = protocol_named("kip101").model({"replicas": 2})
    finding = Simulator(model, [ends_never_fall], 1, Budget(steps=40)).run().violations[0]
    short = minimise(model, finding.steps, ends_never_fall)
    shortest = Explorer(model, [ends_never_fall]).run().violations[0].depth
    assert (len(short.steps), short.is_shortest) == (shortest, True)


def test_a_run_of_no_steps_is_left_alone():
    model = protocol_named("kip101").model()
    assert minimise(model, (), ends_never_fall).steps == ()
