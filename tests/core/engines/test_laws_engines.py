"""What every engine promises for every protocol: the same guards, effects, errors and claims.

The reference engine runs the protocol's own functions; the vectorised engine runs programs made
from what they were captured as. Protocols join these tests by joining `PROTOCOLS`.
"""

from __future__ import annotations

import functools

import pytest

from checker.core.engines.reference import ReferenceEngine
from model.protocols import PROTOCOLS
from properties import properties_of
from tests.support.laws import check_claims_agree, check_engines_agree
from tests.support.textbook import search
from tests.support.variants import flipped, random_states, small, tiny, walked_states

SAMPLES, REACHABLE = 100, 250
every_protocol = pytest.mark.parametrize("name", PROTOCOLS)
both_settings = pytest.mark.parametrize("change", [False, True], ids=["default", "flipped"])


@functools.cache
def _model(name: str, change: bool):
    settings = flipped(PROTOCOLS[name]) if change else {}
    if change and not settings:
        return None
    return small(name, settings)


@every_protocol
def test_the_engines_agree_on_every_step_of_reachable_states(name):
    model = tiny(name)
    steps, misfits = check_engines_agree(model, search(model, at_most=REACHABLE).states)
    assert steps > 50
    assert misfits == 0, "a reachable state has a step that leaves its domain"


@every_protocol
@both_settings
def test_the_engines_agree_on_states_deep_in_random_walks(name, change):
    if model := _model(name, change):
        steps, misfits = check_engines_agree(model, walked_states(model, SAMPLES, seed=1))
        assert steps > 50
        assert misfits == 0


@every_protocol
@both_settings
def test_the_engines_agree_on_random_states_that_nothing_reaches(name, change):
    if model := _model(name, change):
        steps, _ = check_engines_agree(model, random_states(model, SAMPLES, seed=2))
        assert steps > 50


@every_protocol
@both_settings
def test_the_engines_agree_on_every_property_and_premise(name, change):
    if model := _model(name, change):
        engine = ReferenceEngine(model)
        properties = properties_of(model.protocol)
        assert properties
        reachable = walked_states(model, SAMPLES // 2, seed=3)
        anything = random_states(model, SAMPLES, seed=4)
        steps = [(state, after) for state in reachable for _, after in engine.successors(state)]
        steps += list(zip(anything, reversed(anything), strict=True))
        check_claims_agree(model, properties, reachable + anything, steps)


@every_protocol
def test_the_initial_state_is_the_same_on_both_engines(name):
    for model in (tiny(name), small(name)):
        assert ReferenceEngine(model).initial() == model.initial_state


@every_protocol
def test_reading_a_state_back_gives_the_values_that_were_put_in(name):
    model = small(name)
    engine = ReferenceEngine(model)
    for state in random_states(model, 20, seed=5):
        engine.view(state)
        assert tuple(engine._before.values) == state
        for instance in model.instances:
            engine.words(state, instance)
            assert tuple(engine._before.values) == state, "words changed the state"
