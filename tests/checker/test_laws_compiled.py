"""What machine code promises: the steps of the vectorised programs, in the same order."""

from __future__ import annotations

import pytest

from checker.engines.compiled import CompiledExpansion, Unsupported
from checker.engines.vectorised import VectorisedEngine
from model.protocols import PROTOCOLS
from tests.support.counter import COUNTER
from tests.support.laws import check_compiled_agrees
from tests.support.variants import random_states, small, walked_states
from tests.support.wide import WIDE

every_protocol = pytest.mark.parametrize("name", PROTOCOLS)


@every_protocol
def test_machine_code_expands_as_the_programs_do(name):
    model = small(name)
    check_compiled_agrees(model, walked_states(model, 150, seed=6) + random_states(model, 150, 7))


def test_a_batch_whose_steps_outgrow_the_first_guess_is_expanded_whole():
    model = COUNTER.model({"limit": 10_000})
    check_compiled_agrees(model, [(count,) for count in range(0, 10_001, 7)])


def test_numbers_of_32_bits_are_left_to_the_programs():
    engine = VectorisedEngine(WIDE.model({"width": 2}))
    with pytest.raises(Unsupported):
        CompiledExpansion(engine.model, engine.actions, engine.layout)
