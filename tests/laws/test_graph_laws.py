"""What the state graph says of losses, ways and views is what going through it by hand says."""

from __future__ import annotations

import dataclasses
import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from checker.core.graphs.losses import Losses, Risk
from checker.core.graphs.ways import Essential, Ways
from model.language import Action, Protocol, any_of, choose, every, not_, require
from model.language.fair_groups import groups_of
from model.language.fairness import Fairness, Strength
from model.protocols import PROTOCOLS
from properties import Property, promised_properties
from tests.laws.generator import Example, examples
from tests.laws.graph_laws import check_graph
from tests.laws.laws import can_be_captured
from tests.support.graphs import at, graph_model
from tests.support.lab import NODES, ROWS, SIZE, Lab


def random_case(seed: int) -> tuple[Any, tuple[Property, ...], tuple[Fairness, ...]]:
    """A few states, steps of a few actions, places that are lost, steps that are, and fairness."""
    draw = random.Random(seed)
    size, names = draw.randint(3, 8), ["a", "b", "c"][: draw.randint(1, 3)]
    edges = {
        name: [(draw.randrange(size), draw.randrange(size)) for _ in range(draw.randint(1, size))]
        for name in names
    }
    fairness = tuple(
        Fairness(draw.choice(list(Strength)), (name,), draw.choice([None, ()]))
        for name in names
        if draw.random() < 0.7
    )
    lost = at(*draw.sample(range(size), draw.randint(1, 2)))
    claims = [Property("never", "", lambda s: not_(lost(s)))]
    if draw.random() < 0.4:
        jump = draw.randint(2, 3)
        claims.append(Property("small", "", lambda s, t: t.x - s.x < jump, of_steps=True))
    if draw.random() < 0.3:  # a step that changes nothing is a loss
        claims.append(Property("moves", "", lambda s, t: t.x != s.x, of_steps=True))
    return graph_model(edges, *fairness), tuple(draw.sample(claims, len(claims))), fairness


def check_random(seed: int) -> Losses | None:
    model, properties, fairness = random_case(seed)
    groups = groups_of(model, fairness)
    if sum(group.strength is Strength.STRONG for group in groups) > 5:
        return None
    return check_graph(model, properties, fairness, seed)


def test_graphs_of_a_few_states_say_what_going_through_them_by_hand_says():
    found = [losses for seed in range(60) if (losses := check_random(seed)) is not None]
    assert len(found) > 40
    assert sum(losses.is_possible for losses in found) > 20
    for risk in (Risk.SAFE, Risk.POSSIBLE, Risk.CERTAIN, Risk.LOST):
        assert sum((losses.risk == risk).any() for losses in found) > 5
    assert sum(losses.losing.any() for losses in found) > 2


@pytest.mark.nightly("three thousand graphs take some minutes")
def test_many_graphs_of_a_few_states_say_what_going_through_them_by_hand_says():
    for seed in range(60, 3_000):
        check_random(seed)


def plain_claims(k: int) -> tuple[Property, ...]:
    """Claims that are true at first and that steps may well falsify."""
    return (
        Property("no_k", "", lambda s: any_of(s.n != k, s.n == 0)),
        Property("no_flag", "", lambda s: every(not_(node.flag) for node in s.nodes)),
        Property("no_x", "", lambda s: every(node.x != k for node in s.nodes)),
        Property("no_more", "", lambda s, t: t.n <= s.n, of_steps=True),
    )


def ways_to(place: int, edges: dict[str, list[tuple[int, int]]]) -> Ways:
    """The ways to one place of a graph that is drawn by hand."""
    model, lost = graph_model(edges), Property("never", "", lambda s: not_(at(place)(s)))
    losses = check_graph(model, [lost], (), 1)
    assert losses is not None
    return Ways(losses)


def test_steps_that_commute_may_come_in_either_order():
    """A square: the same state comes of both orders."""
    ways = commuting()
    assert (ways.count, ways.essential().up_to_order) == (2, 1)
    assert ways.bridges() == ["a", "b", "end"]


def test_ways_that_meet_in_other_states_are_not_the_same():
    """Either order is possible, and each comes to a place of its own on the way to the loss."""
    ways = commuting(apart=True)
    assert (ways.count, ways.essential().up_to_order) == (2, 2)


def commuting(apart: bool = False) -> Ways:
    """Two actions that count two numbers; with `apart` the second one tells who came first."""

    def a(s: Any) -> None:
        require(not_(s.flag))
        s.flag = True

    def b(s: Any) -> None:
        require(s.n == 0)
        s.n = choose(s.flag, 2, 1) if apart else 1

    def end(s: Any) -> None:
        require(s.flag, s.n > 0)
        s.desk.m = 3

    actions = tuple(Action(f.__name__, f, f.__name__) for f in (a, b, end))
    protocol = Protocol("two", "for tests", Lab, actions, (NODES, ROWS, SIZE))
    model = protocol.model({"nodes": 1, "rows": 1, "size": 1})
    lost = Property("never", "", lambda s: s.desk.m < 3)
    losses = check_graph(model, [lost], (), 1)
    assert losses is not None
    return Ways(losses)


def test_a_state_that_all_ways_go_through_is_a_gate():
    ways = ways_to(5, {"go": [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (4, 5), (3, 0)]})
    assert len(ways.gates()) == 2
    assert (ways.length, ways.count) == (4, 2)
    around = ways_to(3, {"go": [(0, 1), (1, 2), (2, 3)], "jump": [(0, 2), (1, 3)]})
    assert around.gates() == []
    assert around.bridges() == ["go"]


def test_a_rung_of_the_ladder_says_what_going_through_it_by_hand_says():
    """Its replicas have no names of their own: ways differ up to names too."""
    sizes = {"replicas": 2, "log_size": 1, "max_records": 1, "max_leader_epoch": 1}
    model = PROTOCOLS["truncate_to_high_watermark"].model(sizes)
    properties = promised_properties(model, ["weak_isr", "strong_isr"])
    losses = check_graph(model, properties, model.protocol.fairness, 1, at_most=1_000)
    assert losses is not None
    ways = Ways(losses)
    assert (ways.length, ways.count) == (8, 36)
    assert ways.essential() == Essential(up_to_order=2, up_to_names=1)
    assert [int((losses.risk == risk).sum()) for risk in Risk] == [268, 75, 4, 6, 0]


@st.composite
def cases(draw: Any) -> tuple[Example, tuple[Fairness, ...], int]:
    """A generated protocol with random fairness, and claims to be falsified."""
    example = draw(examples())
    if draw(st.integers(0, 3)):
        claims = draw(st.permutations(plain_claims(draw(st.integers(1, 3)))))
        example = dataclasses.replace(example, properties=tuple(claims[:3]))
    how = {
        name: draw(st.sampled_from([None, *Strength])) for name in example.model.protocol.parameters
    }
    fairness = tuple(Fairness(each, (name,)) for name, each in how.items() if each is not None)
    return example, fairness, draw(st.integers(0, 1_000))


def agree_on(count: int) -> tuple[int, int]:
    """How many generated protocols were compared, and in how many a loss is possible."""
    compared, possible = 0, 0

    @settings(
        max_examples=count, deadline=None, database=None, derandomize=count < 1_000,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(cases(), st.integers(1, 7))
    def check(case: tuple[Example, tuple[Fairness, ...], int], chosen: int) -> None:
        nonlocal compared, possible
        example, fairness, seed = case
        groups = groups_of(example.model, fairness)
        if not can_be_captured(example):
            return
        if sum(group.strength is Strength.STRONG for group in groups) > 4:
            return
        properties = [p for n, p in enumerate(example.properties) if chosen >> n & 1]
        losses = check_graph(example.model, properties, fairness, seed)
        if losses is not None:
            compared += 1
            possible += losses.is_possible and not losses.lost[0]

    check()
    return compared, possible


def test_generated_protocols_say_what_going_through_them_by_hand_says():
    """Few of them can lose anything; the graphs above can."""
    compared, _ = agree_on(20)
    assert compared > 7


@pytest.mark.nightly("two thousand protocols take half an hour")
def test_many_generated_protocols_say_what_going_through_them_by_hand_says():
    compared, possible = agree_on(2_000)
    assert 0 < possible < compared
