"""Inference without templates: atoms follow from a protocol, clauses hold and are inductive."""

from __future__ import annotations

import random
from typing import cast

import numpy as np
import pytest
import z3

from checker.core.engines.symbolic import Lowering, SymbolicEngine
from checker.core.proofs.bounded.induction import Induction, InductionOptions
from checker.core.proofs.inference.atoms import atoms_of
from checker.core.proofs.inference.candidates import reachable_states
from checker.core.proofs.inference.derive import DerivingInferrer
from checker.core.proofs.inference.patterns import (
    MAX_LITERALS,
    Patterns,
    altered,
)
from checker.core.search.explore import Explorer
from checker.core.search.question import Options
from checker.core.verdict import Verdict
from model.async_isr.protocol import ASYNC_ISR
from model.ladder.kip320 import KIP320
from model.language import graph
from model.language.capture import lint
from model.language.capture.expr import BoolExpr
from model.language.graph import Kind
from model.protocols import protocol_named
from properties import Property, choose_properties

ISR = choose_properties(KIP320, ["strong_isr", "weak_isr"])
TINY = {"replicas": 2, "log_size": 1, "max_records": 1, "max_leader_epoch": 0}
KAFKA = TINY | {"crashes": 1, "unclean_elections": 0, "preferred_elections": 0}

# One worker infers, once.
pytestmark = pytest.mark.xdist_group("inference")


@pytest.fixture(scope="module")
def inference():
    return DerivingInferrer(KIP320.model(TINY), ISR).run()


@pytest.fixture(scope="module")
def patterns():
    model = KIP320.model(TINY)
    states = reachable_states(model, 10_000)
    assert states is not None
    return Patterns(model, atoms_of(model, ISR), states), states


def at(node, place):
    """An expression about what a place says instead of its variables."""
    stands_for = {v: graph.constant(number, v.sort) for v, number in place.items()}
    return graph.substitute(node, stands_for)


@pytest.fixture
def as_property(monkeypatch):
    """A clause as a property, at every place, for engines that know no atoms.

    What it claims is an expression already: capture, which refuses that, is not to look.
    """

    def made(candidate, atoms):
        monkeypatch.setattr(lint.Watch, "run", lambda _, function, *arguments: function(*arguments))
        literals = [
            atoms.expressions[atom] if sign else graph.negation(atoms.expressions[atom])
            for atom, sign in sorted(candidate)
        ]
        clause = graph.disjunction(*literals)
        claim = BoolExpr(graph.conjunction(*(at(clause, place) for place in atoms.places)))
        return Property(f"clause {sorted(candidate)}", "a clause", lambda _: cast(bool, claim))

    return made


def proved(model, properties, lemmas):
    options = InductionOptions(cross_check=False)  # clauses are no functions of Python's
    return Induction(model, properties, lemmas, options).run()


def test_patterns_say_of_each_state_what_z3_finds(patterns):
    found, states = patterns
    model, atoms = KIP320.model(TINY), found.atoms
    engine = SymbolicEngine(model)
    state = random.Random(1).choice(found.layout.unpack(states))
    lower = Lowering(lambda _, position: engine.value(position, state[position]))

    rows = np.unpackbits(found.of_state(state).view(np.uint8), axis=1, bitorder="little")
    for place, row in enumerate(rows):
        expected = [z3.is_true(z3.simplify(lower(nodes[place]))) for nodes in atoms.nodes]
        assert row[: len(atoms.names)].tolist() == expected


@pytest.mark.parametrize("name", ["kip320", "async_isr", "kip595"])
def test_no_atom_is_said_twice_or_says_nothing(name):
    model = protocol_named(name).model()
    atoms = atoms_of(model, ())

    assert len(atoms.names) == len(set(atoms.nodes)) > 50
    assert all(len(row) == len(atoms.places) for row in atoms.nodes)
    assert not any(all(node in (graph.TRUE, graph.FALSE) for node in row) for row in atoms.nodes)
    for place in atoms.places:
        members = [n for v, n in place.items() if v.sort.kind is Kind.REF]
        assert len(members) == len(set(members))


def test_a_clause_that_excludes_a_state_is_false_there_and_true_in_every_run(patterns):
    found, states = patterns
    reachable = set(found.layout.unpack(states))
    model = KIP320.model(TINY)
    strange = found.layout.unpack(altered(model, states, found.layout, 60, seed=3))
    tried = 0

    for state in set(strange) - reachable:
        for clause, _ in zip(found.excluding(state), range(3), strict=False):
            tried += 1
            assert 1 <= len(clause) <= MAX_LITERALS
            assert found.falsified(clause, found.of_state(state)).any()
            assert not found.falsified(clause, found.rows).any()
    assert tried > 20


def test_no_clause_excludes_a_state_that_a_run_reaches(patterns):
    found, states = patterns
    for state in random.Random(2).sample(found.layout.unpack(states), 5):
        assert not list(found.excluding(state))


def test_a_state_that_counts_as_reachable_is_excluded_no_more(patterns):
    model = KIP320.model(TINY)
    found = Patterns(model, patterns[0].atoms, patterns[1])
    strange = found.layout.unpack(altered(model, patterns[1], found.layout, 60, seed=3))
    state = next(state for state in strange if any(found.excluding(state)))

    found.add(state)

    assert not any(found.excluding(state))


@pytest.mark.slow
def test_what_is_inferred_holds_in_every_run(inference, as_property):
    atoms = atoms_of(inference.model, ISR)
    claims = [as_property(clause, atoms) for clause in inference.survivors]

    result = Explorer(inference.model, claims, options=Options(cross_check=False)).run()

    assert result.verdict is Verdict.EXHAUSTED


@pytest.mark.slow
def test_what_is_inferred_is_inductive_and_so_is_the_part_that_is_needed(inference, as_property):
    """The other engine, with another solver and one query at a time, proves it again."""
    atoms = atoms_of(inference.model, ISR)
    for clauses in (inference.survivors, inference.needed):
        lemmas = [as_property(clause, atoms) for clause in clauses]
        proof = proved(inference.model, ISR, lemmas)

        assert proof.verdict is Verdict.PROVED
        assert set(proof.invariants) == set(lemmas)  # the properties follow, and need not join
    assert set(inference.needed) < set(inference.survivors)
    assert len({inference.words(clause) for clause in inference.survivors}) == len(
        inference.survivors
    )


@pytest.mark.slow
def test_known_lemmas_that_follow_are_those_that_need_not_join(inference, as_property):
    """To the other engine, a claim that does not follow from the lemmas has to be one of them."""
    assert inference.found and not inference.fallen
    assert set(inference.found) == set(inference.holding) - set(inference.missing)
    atoms = atoms_of(inference.model, ISR)
    lemmas = {as_property(clause, atoms) for clause in inference.survivors}

    proof = proved(inference.model, inference.holding, lemmas)

    assert proof.verdict is Verdict.PROVED
    assert set() < set(proof.invariants) - lemmas <= set(inference.missing)


@pytest.mark.nightly("half a minute; a smaller proof is found on every change")
def test_asynchronous_isr_updates_are_proved_from_nothing(as_property):
    model = ASYNC_ISR.model()
    claims = choose_properties(ASYNC_ISR, ["valid_high_watermark", "well_formed"])

    result = DerivingInferrer(model, claims).run()

    assert result.verdict is Verdict.PROVED and not result.fallen
    atoms = atoms_of(model, claims)
    lemmas = [as_property(clause, atoms) for clause in result.needed]
    assert proved(model, claims, lemmas).verdict is Verdict.PROVED


@pytest.mark.nightly("half a minute; a smaller proof is found on every change")
def test_the_broker_model_is_proved_from_nothing_at_its_smallest(as_property):
    claims = choose_properties(protocol_named("kafka"), ["acknowledged_records_survive"])
    model = protocol_named("kafka").model(KAFKA, {}, "kafka-fixed")

    result = DerivingInferrer(model, claims).run()

    assert result.verdict is Verdict.PROVED
    atoms = atoms_of(model, claims)
    lemmas = [as_property(clause, atoms) for clause in result.needed]
    assert proved(model, claims, lemmas).verdict is Verdict.PROVED
