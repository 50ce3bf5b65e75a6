"""What every engine promises for every protocol: the same guards, effects, errors and claims.

The reference engine runs the protocol's own functions; the vectorised engine runs programs made
from what they were captured as. Protocols join these tests by joining `PROTOCOLS`.
"""

from __future__ import annotations

import pytest

from checker.core.engines.reference import ReferenceEngine
from checker.core.engines.vectorised import VectorisedEngine
from model.protocols import PROTOCOLS
from properties import properties_of
from tests.support.laws import check_claims_agree, check_engines_agree
from tests.support.textbook import search
from tests.support.tiers import slow_but
from tests.support.variants import MOST, flipped, random_states, small, tiny, walked_states

SAMPLES, REACHABLE = 30, 150
every_protocol = pytest.mark.parametrize("name", PROTOCOLS)
most_protocols = pytest.mark.parametrize("name", slow_but(MOST, PROTOCOLS))
both_settings = pytest.mark.parametrize(
    "change",
    [
        pytest.param(False, id="default", marks=pytest.mark.slow),
        pytest.param(True, id="flipped"),
    ],
)


def _model(name: str, change: bool):
    settings = flipped(PROTOCOLS[name]) if change else {}
    if change and not settings:
        return None
    return small(name, settings)


@most_protocols
def test_the_engines_agree_on_every_step_of_reachable_states(name):
    model = tiny(name)
    steps, misfits = check_engines_agree(model, search(model, at_most=REACHABLE).states)
    assert steps > 50
    assert misfits == 0, "a reachable state has a step that leaves its domain"


@most_protocols
@both_settings
def test_the_engines_agree_on_states_deep_in_random_walks_and_on_any(name, change):
    """On steps, properties and premises, also in states that nothing reaches."""
    if model := _model(name, change):
        engine, properties = VectorisedEngine(model), properties_of(model.protocol)
        walked = walked_states(model, SAMPLES, seed=1)
        anything = random_states(model, SAMPLES, seed=2)
        steps, misfits = check_engines_agree(model, walked, engine)
        assert steps > 50
        assert misfits == 0
        steps, _ = check_engines_agree(model, anything, engine)
        assert steps > 50
        some, reference = walked[::4], ReferenceEngine(model)
        pairs = [(state, after) for state in some for _, after in reference.successors(state)]
        pairs += zip(anything, reversed(anything), strict=True)
        assert properties
        check_claims_agree(model, properties, some + anything, pairs, engine)


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
