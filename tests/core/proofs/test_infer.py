"""Inference: candidates hold, survivors are inductive, and variants show which lemmas fall."""

from __future__ import annotations

import dataclasses

import pytest

from checker.core.proofs.bounded.induction import Induction
from checker.core.proofs.inference import infer as infer_module
from checker.core.proofs.inference.candidates import Table, atoms_of, reachable_states
from checker.core.proofs.inference.infer import Inferrer
from checker.core.search.explore import Explorer
from checker.core.verdict import Verdict
from model.async_isr.protocol import ASYNC_ISR
from model.ladder.kip320 import KIP320
from model.language import any_of, every, implies, not_
from model.protocols import protocol_named
from properties import Property, choose_properties
from properties.ladder.templates import LADDER_TEMPLATES

ISR = choose_properties(KIP320, ["strong_isr", "weak_isr"])
NAMES = tuple(LADDER_TEMPLATES.atoms)
TINY = {"replicas": 2, "log_size": 1, "max_records": 1, "max_leader_epoch": 0}


# One worker infers, once.
pytestmark = pytest.mark.xdist_group("inference")


@pytest.fixture(scope="module")
def inference():
    return Inferrer(KIP320.model(TINY), ISR).run()


def as_property(candidate, names):
    """A candidate as a property in the modelling language, for engines that know no atoms."""
    atoms = tuple((LADDER_TEMPLATES.atoms[names[atom]], sign) for atom, sign in sorted(candidate))

    def clause(*place):
        return any_of(*(f(*place) if sign else not_(f(*place)) for f, sign in atoms))

    def claim(c):
        return every(
            implies(r != x, clause(c, r, x, o, e))
            for r in c.replicas
            for x in c.replicas
            for o in r.log.positions
            for e in c.requests
        )

    return Property(f"candidate {sorted(candidate)}", "a candidate", claim)


def test_all_reachable_states_are_looked_at():
    model = KIP320.model(TINY)
    states = reachable_states(model, 10_000)

    assert states is not None
    assert states.shape[1] == Explorer(model, ()).run().distinct_states
    assert reachable_states(model, 5) is None


@pytest.mark.slow
def test_candidates_are_what_the_explorer_finds_to_hold():
    model = KIP320.model(TINY)
    atoms = atoms_of(model, LADDER_TEMPLATES)
    states = reachable_states(model, 10_000)
    assert states is not None
    table = Table(model, atoms, states)
    found = table.shortest()
    pairs = [frozenset({(a, s), (b, True)}) for a in range(3) for s in (True, False)
             for b in range(15, 18)]  # fmt: skip

    for candidate in (*pairs, *found[:8]):
        prop = as_property(candidate, atoms.names)
        expected = Explorer(model, [prop]).run().verdict is Verdict.EXHAUSTED
        assert table.holds(candidate) is expected, atoms.words(candidate)


@pytest.mark.nightly("half a minute; that a proof is found, and holds, is seen on every change")
def test_survivors_are_inductive_together(inference):
    lemmas = [as_property(candidate, NAMES) for candidate in inference.survivors]

    assert inference.survivors
    assert len({inference.words(candidate) for candidate in inference.survivors}) == len(lemmas)
    assert Induction(inference.model, (), lemmas).run().verdict is Verdict.PROVED


@pytest.mark.slow
def test_what_is_needed_is_a_small_part_and_a_proof_by_itself(inference):
    """The other engine, with another solver and one query at a time, proves it again."""
    lemmas = [as_property(candidate, NAMES) for candidate in inference.needed]

    assert inference.verdict is Verdict.PROVED
    assert set(inference.needed) < set(inference.survivors)
    assert len(lemmas) < len(inference.survivors) / 4
    proof = Induction(inference.model, ISR, lemmas).run()
    assert proof.verdict is Verdict.PROVED
    assert set(proof.invariants) == set(lemmas)  # the properties follow, and need not join


@pytest.mark.nightly("half a minute and more; with two replicas it is found on every change")
@pytest.mark.parametrize("bounds", [[3, 1, 1, 1], [3, 2, 2, 1]])
def test_the_proof_of_kip320_is_found(bounds):
    names = ("replicas", "log_size", "max_records", "max_leader_epoch")
    result = Inferrer(KIP320.model(dict(zip(names, bounds, strict=True))), ISR).run()

    assert result.follows == {"strong_isr": True, "weak_isr": True}
    lemmas = [as_property(candidate, NAMES) for candidate in result.needed]
    assert Induction(result.model, ISR, lemmas).run().verdict is Verdict.PROVED


@pytest.mark.slow
def test_without_the_atoms_about_high_watermarks_nothing_follows(monkeypatch):
    """A mutant of the templates: what cannot be said cannot be found."""
    atoms = {name: atom for name, atom in LADDER_TEMPLATES.atoms.items() if "HW" not in name}
    poor = dataclasses.replace(LADDER_TEMPLATES, atoms=atoms, families=())
    monkeypatch.setattr(infer_module, "templates_of", lambda _: poor)

    result = Inferrer(KIP320.model(TINY), ISR).run()

    assert result.verdict is Verdict.NOT_INDUCTIVE
    assert result.survivors and not result.needed


@pytest.mark.slow
@pytest.mark.parametrize("maximal_isr", [True, False])
def test_asynchronous_isr_updates_are_proved_from_nothing_with_the_maximal_isr(maximal_isr):
    model = ASYNC_ISR.model({}, {"maximal_isr": maximal_isr})
    claims = choose_properties(ASYNC_ISR, ["valid_high_watermark", "well_formed"])

    result = Inferrer(model, claims).run()

    assert result.follows == {"valid_high_watermark": maximal_isr, "well_formed": True}
    assert not result.fallen
    assert 0 < len(result.needed) < len(result.survivors)


@pytest.mark.slow
def test_known_lemmas_hold_or_fall(inference):
    assert not inference.fallen
    old = protocol_named("kip279").model(TINY | {"max_leader_epoch": 1})

    fallen = {lemma.name for lemma in Inferrer(old, ()).known_lemmas()[1]}

    assert {"leader_got_there_first", "committed"} <= fallen
