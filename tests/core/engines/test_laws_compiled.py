"""What machine code promises: the steps of the vectorised programs, in the same order."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from checker.core.engines.compiled import CompiledExpansion
from checker.core.engines.compiled_claims import CompiledClaims, JudgedClaims, PackedClaims
from checker.core.engines.machine_code import Unsupported
from checker.core.engines.vectorised import Claims, VectorisedEngine
from model.language import graph
from model.language.errors import DisagreementError
from properties import properties_of
from tests.support.laws import check_compiled_agrees, check_compiled_claims_agree
from tests.support.tiers import slow_but
from tests.support.variants import MOST, random_states, small, walked_states
from tests.support.wide import WIDE


@pytest.mark.parametrize(
    "name",
    slow_but(["truncate_to_high_watermark", "async_isr", "kafka"], MOST),
)
def test_machine_code_expands_as_the_programs_do(name):
    model = small(name)
    check_compiled_agrees(model, walked_states(model, 50, seed=6) + random_states(model, 50, 7))


@pytest.mark.parametrize("name", slow_but(["kip320", "kafka"], MOST))
def test_machine_code_judges_as_the_programs_do(name):
    model = small(name)
    states = walked_states(model, 150, seed=8) + random_states(model, 150, 9)
    steps = list(itertools.pairwise(states))
    check_compiled_claims_agree(model, properties_of(model.protocol), states, steps)


def test_more_claims_than_a_word_has_bits_are_judged_too():
    model = small("kip320")
    states = random_states(model, 50, 10)
    engine = VectorisedEngine(model)
    weak, strong = engine.claims(properties_of(model.protocol)[:2]).nodes
    nodes = [weak, strong] * 40
    words = engine.layout.pack(states)
    found = CompiledClaims(nodes, engine.layout)(words)
    expected = Claims(nodes, engine.layout)(words)
    assert np.array_equal(found, expected)
    assert len({tuple(mask) for mask in expected}) > 1


def test_claims_packed_in_words_are_the_masks():
    model = small("kip320")
    engine = VectorisedEngine(model)
    words = engine.layout.pack(random_states(model, 50, 10))
    weak, strong = engine.claims(properties_of(model.protocol)[:2]).nodes
    claims = Claims([weak] * 40 + [strong] * 30, engine.layout)
    by_programs = PackedClaims(claims, patience=None)(words)
    assert np.array_equal(PackedClaims(claims, patience=0.0)(words), by_programs)
    for number, mask in enumerate(claims(words)):
        bits = by_programs[number // 64] >> np.uint64(number % 64) & np.uint64(1)
        assert np.array_equal(bits, mask)


def test_a_program_gives_way_to_machine_code_only_where_both_agree():
    engine = VectorisedEngine(small("kip320"))
    words = engine.layout.pack(walked_states(engine.model, 50, seed=11))
    claims = engine.claims(properties_of(engine.model.protocol)[:1])
    judged = JudgedClaims(claims, None, patience=0.0)
    assert np.array_equal(judged(words), claims(words))
    denied = Claims([graph.negation(node) for node in claims.nodes], engine.layout)
    claims.nodes = denied.nodes
    with pytest.raises(DisagreementError, match="otherwise"):
        JudgedClaims(claims, None, patience=0.0)(words)


def test_numbers_of_32_bits_are_left_to_the_programs():
    engine = VectorisedEngine(WIDE.model({"width": 2}))
    with pytest.raises(Unsupported):
        CompiledExpansion(engine.model, engine.actions, engine.layout)
