"""What `dead.values.are.blank` leaves of a quorum: fewer states, and from each the same future."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from checker.core.engines.vectorised import VectorisedEngine
from checker.core.graphs.built import Built, build
from model.kraft.dead_values import blank_dead_values
from model.kraft.protocol import KRAFT
from model.kraft.state import Quorum
from model.language import action
from model.language.protocol import Model
from properties import Sense, choose_properties, promised_properties
from tests.support.laws import check_is_broken
from tests.support.tiers import first_and_nightly, nightly

BLANK = {"dead.values.are.blank": "true"}


@action("dead values become blank")
def forget(quorum: Quorum) -> None:
    """What each action ends with."""
    blank_dead_values(quorum)


WITH_FORGETTING = KRAFT.variant("forgets", "kraft, and a step that forgets", extra=(forget,))


def _blanked(model: Model, built: Built, of: Built) -> Any:
    """For each state of `of` the number of what it becomes in `built`, -1 if that is not there."""
    engine = VectorisedEngine(model)
    steps = engine.expand(engine.layout.pack(of.engine.layout.unpack(of.graph.words)))
    (number,) = (i.number for i in model.instances if i.action.name == forget.name)
    chosen = np.flatnonzero(steps.instances == number)
    assert steps.rows[chosen].tolist() == list(range(of.states))
    after = engine.layout.unpack(np.ascontiguousarray(steps.words[:, chosen]))
    return np.array(built.numbers_of(after))


def _futures(built: Built, classes: Any) -> list[set[int]]:
    """For each state the classes of other states that a step leads to."""
    found: list[set[int]] = [set() for _ in range(built.states)]
    for source, target in zip(built.sources.tolist(), built.graph.targets.tolist(), strict=True):
        if classes[source] != classes[target]:
            found[source].add(int(classes[target]))
    return found


SMALL = {"log_size": 3, "epochs": 2}
WHERE: dict[str, tuple[dict[str, int], dict[str, Any], float]] = {
    "two nodes": ({"nodes": 2, "log_size": 3, "crashes": 1}, {}, 0.36),
    "a crash": ({**SMALL, "voter_changes": 0, "crashes": 1}, {}, 0.24),
    "two changes at a time": (
        {**SMALL, "appends": 0, "voter_changes": 2},
        {"one.change.at.a.time": "false"},
        0.38,
    ),
}
"""Bounds, settings, and what part of the states is left at most. No power is lost: where it is,
flushes are left out."""


LONG = ("two changes at a time", "a crash")


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [nightly("a third of a minute", n) if n in LONG else n for n in WHERE]
)
def test_a_state_and_what_is_left_of_it_have_the_same_future(name):
    """Whatever step one takes the other takes, or it is none by now; and claims say the same."""
    bounds, settings, part = WHERE[name]
    settings = {**KRAFT.preset("kafka-fixed"), **settings}
    full = build(KRAFT.model(bounds, settings))
    small = build(KRAFT.model(bounds, settings | BLANK))
    left = _blanked(WITH_FORGETTING.model(bounds, settings | BLANK), small, full)
    assert set(left.tolist()) == set(range(small.states))
    futures = _futures(small, np.arange(small.states))
    assert all(future == futures[k] for future, k in zip(_futures(full, left), left, strict=True))
    for prop in promised_properties(full.model):
        if prop.sense is Sense.ALWAYS and not prop.of_steps:
            assert np.array_equal(full.truth(prop), small.truth(prop)[left]), prop.name
    assert small.states <= part * full.states


LOST: dict[str, tuple[str, dict[str, int], int]] = {
    "restart.flushes.log": (
        "leaders_have_what_is_committed",
        {"voter_changes": 0, "power_losses": 1, "crashes": 1, "epochs": 2},
        9,
    ),
    "leader.counts.what.is.flushed": (
        "committed_records_stay",
        {"nodes": 1, "voter_changes": 0, "power_losses": 1},
        3,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("rule", first_and_nightly("ten seconds", *reversed(LOST)))
def test_what_a_power_loss_takes_is_lost_in_as_many_steps(rule):
    """Flushes that are left out are those after it."""
    name, bounds, depth = LOST[rule]
    settings = {**KRAFT.preset("kafka-fixed"), "pre.vote": "false", rule: "false"}
    (prop,) = choose_properties(KRAFT, [name])
    for more in ({}, BLANK):
        assert check_is_broken(KRAFT.model(bounds, settings | more), prop) == depth
