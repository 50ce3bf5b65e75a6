"""Beginnings: each is a state that its run leads to, they differ, and they are always the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from checker.core.engines.reference import ReferenceEngine
from checker.core.engines.vectorised import VectorisedEngine
from checker.core.search.beginnings import Beginnings
from checker.core.search.explore import Explorer
from checker.core.search.narrow import NarrowSearch, Width, evenly_by
from model.protocols import protocol_named
from tests.support.tiers import first_and_slow
from tests.support.variants import tiny


def ends(model, beginnings, numbers):
    """The state that each run leads to, by the action functions; fails if a step is not enabled."""
    engine = ReferenceEngine(model)
    for number in numbers:
        state: Any = engine.initial()
        for step in beginnings.run(number):
            state = engine.step(state, step)
            assert state is not None
        yield state


@pytest.mark.parametrize("name", first_and_slow("kip320", "async_isr", "kafka"))
def test_each_beginning_is_reached_by_its_run_and_the_first_is_the_initial_state(name):
    model = protocol_named(name).model()
    beginnings = Beginnings(model, kept=20, levels=12)
    found = list(ends(model, beginnings, range(len(beginnings))))
    assert found[0] == ReferenceEngine(model).initial()
    half = len(set(found))
    assert half > len(found) / 3  # two searches, each without repetition
    assert max(len(beginnings.run(number)) for number in range(len(found))) == 12


def test_where_everything_fits_every_state_is_a_beginning():
    model = tiny("kip320")
    beginnings = Beginnings(model, kept=100_000, levels=100)
    states = Explorer(model, ()).run().distinct_states
    found = set(ends(model, beginnings, range(len(beginnings))))
    assert len(found) == states == len(beginnings) / 2


def test_the_list_depends_on_the_model_alone():
    first, again = (Beginnings(protocol_named("kip279").model(), 50, 10) for _ in range(2))
    assert len(first) == len(again)
    assert all(first.run(k) == again.run(k) for k in range(len(first)))


def test_rare_kinds_come_before_the_second_of_a_frequent_one():
    kinds = np.array([7, 7, 7, 3, 7, 9, 3], np.uint64)
    order = evenly_by(kinds).tolist()
    assert sorted(order) == list(range(7))
    assert set(kinds[order[:3]].tolist()) == {3, 7, 9}
    assert kinds[order[3:5]].tolist().count(3) == 1


def test_more_profiles_are_seen_than_where_states_are_kept_whatever_they_enable():
    engine = VectorisedEngine(protocol_named("kip320").model())
    model, reference = engine.model, ReferenceEngine(engine.model)

    def profiles(by_profile):
        search = NarrowSearch(engine, Width(40, by_profile), 0)
        search.run(12)
        found = set()
        for number in range(search.count):
            state: Any = reference.initial()
            for k in search.path(number):
                state = reference.step(state, model.instances[k])
            found.add(tuple(i.action.name for i, _ in reference.successors(state)))
        return found

    assert len(profiles(40)) > 1.3 * len(profiles(0))
