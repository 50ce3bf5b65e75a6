"""The symbolic engine obeys the laws of engines, and its mutants do not."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

import pytest
import z3

from checker.core.engines.interchangeable import has_symmetry
from checker.core.engines.symbolic import (
    SymbolicEngine,
    SymbolicStep,
    Term,
    number,
    widen,
    width,
)
from model.language.protocol import Model
from model.protocols import PROTOCOLS, protocol_named
from properties import Property, Sense, lemmas_of, properties_of
from tests.support.proofs import check_claims, check_steps, random_states, states_on_walks
from tests.support.tiers import first_and_slow

LADDER = ("truncate_to_high_watermark", "kip101", "kip279", "kip320_first_try", "kip320")
SMALL = {"replicas": 3, "log_size": 2, "max_records": 2, "max_leader_epoch": 1, "keys": 2,
         "broker_errors": 1}  # fmt: skip


def small_model(name: str) -> Model:
    protocol = protocol_named(name)
    bounds = {bound.name for bound in protocol.bounds}
    return protocol.model({k: v for k, v in SMALL.items() if k in bounds})


def engine_of(name: str) -> SymbolicEngine:
    return SymbolicEngine(small_model(name))


@pytest.mark.parametrize("name", first_and_slow("kip320", "async_isr", "kafka_producer"))
def test_steps_are_those_of_the_reference_engine(name):
    engine = engine_of(name)

    taken = check_steps(engine, states_on_walks(engine.model, 12))
    check_steps(engine, random_states(engine.model, 12))

    assert taken > 20


@pytest.mark.parametrize("name", first_and_slow("async_isr", "kip320", "kafka_producer"))
def test_claims_are_those_of_the_reference_engine_now_and_after_a_step(name):
    engine = engine_of(name)
    protocol = engine.model.protocol
    claims = dict.fromkeys((*properties_of(protocol), *lemmas_of(protocol)))
    of_states = [c for c in claims if c.sense is Sense.ALWAYS and not c.of_steps]

    states = states_on_walks(engine.model, 6) + random_states(engine.model, 6)

    check_claims(engine, of_states, states)


@pytest.mark.parametrize("low", [-3, -1, 0, 2])
@pytest.mark.parametrize("high", [2, 3, 7, 8])
def test_numbers_of_a_range_survive_widening_and_narrowing(low, high):
    for value in range(low, high + 1):
        term = number(value, low, high)
        wide = widen(term, low, high, low - 5, high + 20)
        assert z3.simplify(wide).as_signed_long() == value
        back = z3.simplify(widen(wide, low - 5, high + 20, low, high))
        assert (back.as_signed_long() if low < 0 else back.as_long()) == value


def test_a_width_is_no_wider_than_needed():
    assert [width(0, 1), width(0, 2), width(-1, 0), width(-1, 1), width(-1, 2)] == [1, 2, 1, 2, 3]


def test_symmetry_is_claimed_only_where_nothing_names_a_member():
    symmetric = {name for name, p in PROTOCOLS.items() if has_symmetry(p.model(), ())}

    assert symmetric >= set(LADDER)
    assert "async_isr" not in symmetric  # its leader is the first replica


# --- mutants ------------------------------------------------------------------------------------


class ForgetsAWrite(SymbolicEngine):
    """Framing broken: the last cell that a step assigns keeps its value."""

    def step(self, ground):
        step = super().step(ground)
        return dataclasses.replace(step, values=dict(list(step.values.items())[:-1]))


class WritesTooMuch(SymbolicEngine):
    """Framing broken: a step also resets the first cell that it should leave alone."""

    def step(self, ground):
        step = super().step(ground)
        free = next(p for p in range(len(self.model.cells)) if p not in step.values)
        extra = {free: self.value(free, self.model.cells[free].low)}
        return dataclasses.replace(step, values={**step.values, **extra})


class ForgetsToPrime(SymbolicEngine):
    """Priming broken: a claim after a step is the claim before it."""

    def after(self, term: Term, step: SymbolicStep) -> Term:
        return term


class PrimesInTurn(SymbolicEngine):
    """Priming broken: assignments see those before them, as if made one after the other."""

    def after(self, term: Term, step: SymbolicStep) -> Term:
        for position, value in step.values.items():
            term = z3.substitute(term, [(self.cells()[position], value)])
        return term


class WithoutGuard(SymbolicEngine):
    """A step that can always be taken."""

    def step(self, ground):
        return dataclasses.replace(super().step(ground), guard=z3.BoolVal(True))


NO_REQUEST = Property("no_request", "no request was sent", lambda c: c.next_leader_epoch == 0)
NO_RECORD = Property("no_record", "no record was written", lambda c: c.next_record_id == 0)


def all_laws(engine: SymbolicEngine, states: Iterable[tuple[int, ...]]) -> None:
    states = list(states)
    check_steps(engine, states)
    lemmas = lemmas_of(engine.model.protocol)[:6]
    check_claims(engine, (NO_REQUEST, NO_RECORD, *lemmas), states[:6])


@pytest.mark.slow
def test_the_laws_hold_of_the_engine_that_the_mutants_change():
    model = small_model("kip320")
    all_laws(SymbolicEngine(model), states_on_walks(model, 6) + random_states(model, 4))


@pytest.mark.parametrize(
    "mutant", [ForgetsAWrite, WritesTooMuch, ForgetsToPrime, PrimesInTurn, WithoutGuard]
)
def test_the_laws_catch_a_mutant_engine(mutant):
    model = small_model("kip320")
    states = states_on_walks(model, 6) + random_states(model, 4)

    with pytest.raises(AssertionError):
        all_laws(mutant(model), states)
