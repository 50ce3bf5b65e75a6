"""Inference: candidates hold, survivors are inductive, and variants show which lemmas fall."""

from __future__ import annotations

import pytest

from checker.proofs.candidates import Table, atoms_of, reachable_states
from checker.proofs.induction import Induction
from checker.proofs.infer import Inferrer
from checker.search.explore import Explorer
from checker.verdict import Verdict
from model.language.errors import UsageError
from model.protocols import protocol_named
from model.protocols.kip320 import KIP320
from properties import Property
from properties.templates import LADDER_TEMPLATES

TINY = {"replicas": 2, "log_size": 1, "max_records": 1, "max_leader_epoch": 0}


@pytest.fixture(scope="module")
def inference():
    return Inferrer(KIP320.model(TINY), ()).run()


def as_property(candidate, names):
    """A candidate as a property in the modelling language, for engines that know no atoms."""
    atoms = [(LADDER_TEMPLATES.atoms[names[atom]], sign) for atom, sign in sorted(candidate)]

    def claim(c):
        from model.language import any_of, every, implies, not_

        return every(
            every(
                every(
                    every(
                        implies(
                            r != x,
                            any_of(
                                *(f(c, r, x, o, e) if s else not_(f(c, r, x, o, e))
                                  for f, s in atoms)
                            ),
                        )
                        for e in c.requests
                    )
                    for o in r.log.positions
                )
                for x in c.replicas
            )
            for r in c.replicas
        )  # fmt: skip

    return Property(f"candidate {sorted(candidate)}", "a candidate", claim)


def test_all_reachable_states_are_looked_at():
    model = KIP320.model(TINY)
    states = reachable_states(model, 10_000)

    assert states is not None
    assert states.shape[1] == Explorer(model, ()).run().distinct_states
    assert reachable_states(model, 5) is None


def test_candidates_are_what_the_explorer_finds_to_hold():
    model = KIP320.model(TINY)
    atoms = atoms_of(model, LADDER_TEMPLATES)
    states = reachable_states(model, 10_000)
    assert states is not None
    table = Table(model, atoms, states)
    found = table.shortest()
    pairs = [frozenset({(a, s), (b, True)}) for a in range(6) for s in (True, False)
             for b in range(15, 20)]  # fmt: skip

    for candidate in (*pairs, *found[:20]):
        prop = as_property(candidate, atoms.names)
        expected = Explorer(model, [prop]).run().verdict is Verdict.EXHAUSTED
        assert table.holds(candidate) is expected, atoms.words(candidate)


@pytest.mark.slow
def test_survivors_are_inductive_together(inference):
    names = tuple(LADDER_TEMPLATES.atoms)
    lemmas = [as_property(candidate, names) for candidate in inference.survivors]

    assert inference.survivors
    assert len(inference.words) == len(set(inference.words)) == len(lemmas)
    assert Induction(inference.model, (), lemmas).run().verdict is Verdict.PROVED


def test_known_lemmas_hold_or_fall(inference):
    assert not inference.fallen
    old = protocol_named("kip279").model(TINY | {"max_leader_epoch": 1})

    fallen = {lemma.name for lemma in Inferrer(old, ()).known_lemmas()[1]}

    assert {"leader_got_there_first", "committed"} <= fallen


def test_a_protocol_without_templates_is_refused_in_one_line():
    with pytest.raises(UsageError, match="async_isr"):
        Inferrer(protocol_named("async_isr").model(), ())
