"""Two ways to judge liveness agree: on random graphs, and on generated protocols."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from checker.core.search.question import Options
from model.language.fairness import Fairness, Strength
from properties.liveness import Kind
from tests.laws.generator import Example, examples
from tests.laws.laws import can_be_captured
from tests.laws.liveness_laws import both_ways_agree, check_random_graph
from tests.support.lab import ROWS, SIZE

RANDOM_GRAPHS = 1_500


def test_both_ways_agree_on_random_graphs():
    found = sum(check_random_graph(seed) for seed in range(RANDOM_GRAPHS))
    assert RANDOM_GRAPHS / 5 < found < RANDOM_GRAPHS * 0.95


@pytest.mark.nightly("thirty thousand graphs take a minute and a half")
def test_both_ways_agree_on_many_random_graphs():
    for seed in range(RANDOM_GRAPHS, 30_000):
        check_random_graph(seed)


@st.composite
def cases(draw: Any) -> tuple[Example, tuple[Fairness, ...], Kind]:
    """A generated protocol with random fairness, and what is promised of it."""
    example = draw(examples())
    if draw(st.booleans()):
        protocol = dataclasses.replace(example.model.protocol, cut_by=(ROWS, SIZE))
        example = dataclasses.replace(
            example, model=dataclasses.replace(example.model, protocol=protocol)
        )
    fairness = []
    parameters = example.model.protocol.parameters
    for name, known in parameters.items():
        how = draw(st.sampled_from([None, *Strength]))
        by = draw(st.sampled_from([None, (), tuple(p.name for p in known[:1])]))
        if how is not None:
            fairness.append(Fairness(how, (name,), by))
    return example, tuple(fairness), draw(st.sampled_from(list(Kind)))


def agree_on(count: int) -> tuple[int, int]:
    """How many generated protocols were compared, and how many of them break their promise."""
    compared, violated = 0, 0

    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    @given(cases())
    def check(case: tuple[Example, tuple[Fairness, ...], Kind]) -> None:
        nonlocal compared, violated
        example, fairness, kind = case
        if can_be_captured(example) and _few_strong(example, fairness):
            options = Options(cross_check=False, compile_after=None, chunk=7)
            verdict = both_ways_agree(example, fairness, kind, options)
            compared += verdict is not None
            violated += bool(verdict)

    check()
    return compared, violated


def _few_strong(example: Example, fairness: tuple[Fairness, ...]) -> bool:
    """The textbook's way is exponential in the number of strongly fair groups."""
    from model.language.fair_groups import groups_of

    groups = groups_of(example.model, fairness)
    return sum(group.strength is Strength.STRONG for group in groups) <= 5


def test_both_ways_agree_on_generated_protocols():
    compared, violated = agree_on(40)
    assert compared > 10
    assert 0 < violated < compared


@pytest.mark.nightly("ten thousand protocols take ten minutes")
def test_both_ways_agree_on_ten_thousand_generated_protocols():
    compared, violated = agree_on(10_000)
    assert 0 < violated < compared
