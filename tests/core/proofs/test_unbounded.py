"""Proofs for all sizes: lifted formulas mean what the engines do, and only truths are proved."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
import z3

from checker.core.engines.reference import ReferenceEngine
from checker.core.engines.unbounded import UnboundedTerms
from checker.core.exits import Exit
from checker.core.proofs.bounded.induction import Induction
from checker.core.proofs.proof import Obligation, Proof, ProofOutcome
from checker.core.proofs.proof_report import exit_status
from checker.core.proofs.unbounded.relevance import Relevance
from checker.core.proofs.unbounded.unbounded_proof import UnboundedInduction
from checker.core.verdict import Verdict
from model.async_isr.protocol import ASYNC_ISR
from model.ladder.kip320 import KIP320
from model.language import graph
from model.language.capture import CapturedAction, Write
from model.language.errors import UsageError
from model.language.graph import Kind, Node, Op
from model.language.lifted import Lifted
from model.language.protocol import Model
from model.protocols import protocol_named
from properties import Property, Sense, choose_properties, lemmas_of, properties_of
from tests.support.proofs import Truth, check_lifted_steps, random_states, states_on_walks

SMALL = {"replicas": 3, "log_size": 2, "max_records": 2, "max_leader_epoch": 1}
LEMMAS = lemmas_of(KIP320)
BY_NAME = {lemma.name: lemma for lemma in LEMMAS}


# --- the same meaning as the engines ------------------------------------------------------------


def claims_of(model: Model) -> Iterator[tuple[Property, Node]]:
    for prop in dict.fromkeys((*lemmas_of(model.protocol), *properties_of(model.protocol))):
        if prop.sense is Sense.ALWAYS and not prop.of_steps:
            yield prop, model.claim(prop.claim)


PROBE = Property("no_request", "no request was sent", lambda c: c.next_leader_epoch == 0)


def ladder_claims(model: Model) -> list[Property]:
    return [PROBE, *(prop for prop, _ in claims_of(model))]


@pytest.mark.parametrize("name", ["kip320", "kip101"])
def test_lifted_steps_mean_what_the_reference_engine_does(name):
    model = protocol_named(name).model(SMALL | {"replicas": 2})
    states = states_on_walks(model, 6) + random_states(model, 4)

    check_lifted_steps(model, states, ladder_claims(model))


@pytest.mark.slow
def test_lifted_steps_of_the_broker_model_mean_what_the_reference_engine_does():
    kafka = protocol_named("kafka")
    model = kafka.model({"replicas": 2, "max_leader_epoch": 1}, kafka.preset("kafka-4.1"))

    probes = (
        Property("first_epoch", "nobody was elected", lambda p: p.controller.leader_epoch == 0),
        Property("all_in_sync", "", lambda p: p.controller.isr == p.brokers.all()),
        *choose_properties(kafka, ["log_matching", "high_watermark_within_log"]),
    )

    states = states_on_walks(model, 4)
    check_lifted_steps(model, states, probes)
    check_lifted_steps(model, states, probes, Lifted.narrowed(model))


@pytest.mark.parametrize("preset", ["kafka-0.10", "kafka-2.1", "kafka-4.1", "kafka-4.3"])
def test_what_stays_blank_at_all_sizes_does_so_within_bounds(preset):
    kafka = protocol_named("kafka")
    model = kafka.model({"disk_losses": 1, "cache_losses": 1}, kafka.preset(preset))

    blank = Lifted.narrowed(model).blank

    assert blank.keys() <= model.unchanging.keys()
    assert {"brokers.log_start", "spent.record_deletions", "stalled.leader"} <= blank.keys()
    assert "spent.disk_losses" not in blank


@pytest.mark.parametrize("name", ["kip320", "async_isr"])
def test_lifted_claims_at_the_start_are_those_of_the_initial_state(name):
    model = protocol_named(name).model()
    lifted, truth = Lifted(model.schema), Truth(model, ReferenceEngine(model).initial())
    start = model.start
    reference = ReferenceEngine(model)

    for prop, claim in claims_of(model):
        found = truth(lifted.initially(claim, start))
        assert found is reference.holds(prop.claim, reference.initial()), prop.name


class ForgetsWrites(Lifted):
    """Framing broken: of several assignments of a variable, the last is lost."""

    def after(self, node: Node, action: CapturedAction) -> Node:
        writes = action.writes[:-1]
        return super().after(node, CapturedAction(action.name, action.parameters, (), writes))


class ForgetsToPrime(Lifted):
    """Priming broken: nothing changes."""

    def after(self, node: Node, action: CapturedAction) -> Node:
        return self.now(node)


class WritesEverywhere(Lifted):
    """Framing broken: an assignment to one member is one to all."""

    def after(self, node: Node, action: CapturedAction) -> Node:
        writes = tuple(
            Write(
                w.variable,
                tuple(
                    graph.variable(f"any{k}", i.sort, s.name) if i.op is Op.VARIABLE else i
                    for k, (i, s) in enumerate(zip(w.index, w.variable.index, strict=True))
                ),
                w.value,
                tuple(
                    graph.variable(f"any{k}", i.sort, s.name)
                    for k, (i, s) in enumerate(zip(w.index, w.variable.index, strict=True))
                    if i.op is Op.VARIABLE
                ),
            )
            if not w.binders
            else w
            for w in action.writes
        )
        return super().after(node, CapturedAction(action.name, action.parameters, (), writes))


@pytest.mark.parametrize("mutant", [ForgetsWrites, ForgetsToPrime, WritesEverywhere])
def test_the_laws_catch_broken_priming_and_framing(mutant):
    model = KIP320.model(SMALL | {"replicas": 2})
    states = states_on_walks(model, 12) + random_states(model, 4)

    with pytest.raises(AssertionError):
        check_lifted_steps(model, states, ladder_claims(model), mutant(model.schema))


# --- proofs -------------------------------------------------------------------------------------


def obligations(proof: Proof) -> dict[tuple[str, str], Obligation]:
    return {(o.action, o.lemma): o for o in proof.obligations}


def test_epochs_and_leaders_are_proved_for_all_sizes():
    small = [
        BY_NAME[name]
        for name in ("well_formed", "numbers_issued", "quorum_leader", "leader_named_by_epoch")
    ]
    proof = UnboundedInduction(KIP320.model(), small[:1], small).run()

    assert proof.verdict is Verdict.PROVED
    assert exit_status(proof.verdict) == Exit.OK


@pytest.mark.slow
@pytest.mark.parametrize("maximal_isr", [True, False])
def test_asynchronous_isr_updates_are_proved_for_all_sizes_with_the_maximal_isr_only(maximal_isr):
    """A protocol that names a member: its leader is the first replica."""
    model = ASYNC_ISR.model({}, {"maximal_isr": maximal_isr})
    claims = choose_properties(ASYNC_ISR, ["valid_high_watermark"])

    proof = UnboundedInduction(model, claims, lemmas_of(ASYNC_ISR)).run()

    failed = {o.lemma for o in proof.obligations if o.outcome is not ProofOutcome.PROVED}
    assert failed == (set() if maximal_isr else {"valid_high_watermark"})
    assert (proof.verdict is Verdict.PROVED) is maximal_isr


def test_a_named_member_is_no_other_and_must_exist():
    lifted = Lifted(KIP320.model().schema)
    sort = graph.Sort(Kind.REF, "replicas")
    first, second = (graph.constant(number, sort) for number in (0, 1))
    unknown = graph.read("quorum.leader", (), sort)
    terms = UnboundedTerms(lifted, {"replicas": 2})
    solver = z3.Solver()
    solver.add(terms(unknown) == terms(first), terms(unknown) == terms(second))

    assert solver.check() == z3.sat  # as far as Z3 knows, two names may be for one member
    solver.add(*terms.distinct())
    assert solver.check() == z3.unsat
    with pytest.raises(UsageError, match="prove it within bounds"):
        UnboundedTerms(lifted, {"replicas": 1})(second)


@pytest.mark.usefixtures("little_effort")
def test_nothing_false_is_proved_for_all_sizes():
    wrong = Property("two_requests", "at most two requests", lambda c: c.next_leader_epoch <= 2)
    empty = Property("no_request", "no request", lambda c: c.next_leader_epoch == 0)
    some = Property("a_request", "a request was sent", lambda c: c.next_leader_epoch > 0)
    lemmas = [BY_NAME["well_formed"], BY_NAME["numbers_issued"]]

    for prop in (wrong, empty, some):
        proof = UnboundedInduction(KIP320.model(), (), [*lemmas, prop], timeout=1.0).run()
        assert proof.verdict is Verdict.UNKNOWN
        assert exit_status(proof.verdict) == Exit.LIMIT
        failed = {o.lemma for o in proof.obligations if o.outcome is not ProofOutcome.PROVED}
        assert prop.name in failed


@pytest.mark.slow
@pytest.mark.usefixtures("little_effort")
def test_a_property_that_the_lemmas_do_not_imply_is_not_proved():
    (strong_isr,) = choose_properties(KIP320, ["strong_isr"])
    lemmas = [BY_NAME["well_formed"], BY_NAME["numbers_issued"], BY_NAME["leader_named_by_epoch"]]

    proof = UnboundedInduction(KIP320.model(), [strong_isr], lemmas, timeout=1.0).run()

    assert proof.verdict is Verdict.UNKNOWN
    failed = {o.lemma for o in proof.obligations if o.outcome is not ProofOutcome.PROVED}
    assert failed == {"strong_isr"}


@pytest.mark.slow
def test_what_seems_relevant_is_enough_within_small_bounds():
    """Relevance itself: each obligation holds with the lemmas that it names, and with no fewer."""
    model = KIP320.model(SMALL)
    relevance = Relevance(model, LEMMAS)
    (strong_isr,) = choose_properties(KIP320, ["strong_isr"])

    assert relevance.of_property(strong_isr) == frozenset({"committed"})
    assert relevance.of_step("become_follower", "leader_got_there_first") is not None
    needed = relevance.needed([strong_isr])
    assert needed is not None and "committed" in needed
    assert (
        Induction(model, [strong_isr], [BY_NAME[name] for name in needed]).run().verdict
        is Verdict.PROVED
    )
    assert not relevance.do_without({"committed"}, [strong_isr])
    assert "committed" in relevance.names


@pytest.mark.slow
def test_questions_come_in_the_same_order_in_every_process():
    """Z3's answers depend on what it was asked before: in sets names come in any order."""
    code = """
from checker.core.proofs.unbounded.relevance import Relevance
from model.async_isr.protocol import ASYNC_ISR
from properties import choose_properties, lemmas_of

class Noted(Relevance):
    def of_step(self, action, name):
        print(action, name)
        return super().of_step(action, name)

asked = choose_properties(ASYNC_ISR, ["valid_high_watermark"])
Noted(ASYNC_ISR.model(), lemmas_of(ASYNC_ISR)).needed(asked)
"""

    def order(seed: str) -> str:
        environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": "."}
        asked = [sys.executable, "-c", code]
        return subprocess.run(
            asked, check=True, env=environment, capture_output=True, text=True
        ).stdout

    first = order("0")
    assert len(first.splitlines()) > 20
    assert order("1") == first


@pytest.mark.slow
def test_kip320_is_proved_for_any_number_of_replicas_and_every_bound():
    properties = choose_properties(KIP320, ["strong_isr", "weak_isr"])

    proof = UnboundedInduction(KIP320.model(), properties, LEMMAS).run()

    assert proof.verdict is Verdict.PROVED
    found = obligations(proof)
    assert all(found["lemmas imply it", prop.name] for prop in properties)
    assert {action for action, _ in found} >= {action.name for action in KIP320.actions}


@pytest.mark.nightly("half a minute; proofs within bounds fall in the same way at each run")
def test_an_ablation_is_not_proved_for_all_sizes():
    model = KIP320.model({}, {"fence_high_watermark": False})

    proof = UnboundedInduction(model, (), LEMMAS).run()

    assert proof.verdict is Verdict.UNKNOWN
    failed = {
        (o.action, o.lemma) for o in proof.obligations if o.outcome is not ProofOutcome.PROVED
    }
    assert failed == {("leader_advance_high_watermark", "committed")}
