"""Proofs within bounds: what is proved, what is not, and that each outcome has its own verdict."""

from __future__ import annotations

from dataclasses import replace

import pytest

from checker.core.engines.reference import ReferenceEngine
from checker.core.exits import Exit
from checker.core.proofs.bounded.bounded_check import BoundedChecker, lemmas_that_hold
from checker.core.proofs.bounded.induction import Induction, InductionOptions, minimal_lemmas
from checker.core.proofs.bounded.precedence import interchangeable
from checker.core.proofs.proof import ProofOutcome
from checker.core.proofs.proof_report import exit_status, trace_of
from checker.core.search.explore import Explorer, Options
from checker.core.traces.trace import TraceVerdict
from checker.core.verdict import Verdict
from model.async_isr.protocol import ASYNC_ISR
from model.ladder.kip320 import KIP320
from model.language.errors import UsageError
from model.protocols import protocol_named
from properties import Property, choose_properties, lemmas_of
from tests.support.tiers import first_and_slow, slow_but

ISR = choose_properties(KIP320, ["strong_isr", "weak_isr"])
LEMMAS = lemmas_of(KIP320)
PLAIN, UNCHECKED = InductionOptions(cross_check=False), Options(cross_check=False)
"""Without the comparison with the functions, which has tests of its own."""


def sizes(replicas, log_size, max_records, max_leader_epoch):
    return {
        "replicas": replicas,
        "log_size": log_size,
        "max_records": max_records,
        "max_leader_epoch": max_leader_epoch,
    }


SMALL = sizes(3, 2, 2, 1)


@pytest.mark.parametrize(
    "bounds",
    [(3, 2, 2, 2), (2, 1, 1, 0), pytest.param((4, 3, 4, 3), marks=pytest.mark.slow)],
)
def test_kip320_is_proved(bounds):
    proof = Induction(KIP320.model(sizes(*bounds)), ISR, LEMMAS, PLAIN).run()

    assert proof.verdict is Verdict.PROVED
    assert {o.action for o in proof.obligations} >= {a.name for a in KIP320.actions}
    assert set(proof.invariants) == set(LEMMAS)  # the properties follow from them
    if bounds != (2, 1, 1, 0):
        assert proof.never_enabled == []


@pytest.mark.parametrize(
    "bounds", [(1, 1, 1), (3, 2, 2), pytest.param((5, 4, 4), marks=pytest.mark.slow)]
)
def test_asynchronous_isr_updates_are_proved(bounds):
    model = ASYNC_ISR.model(
        dict(zip(("replicas", "max_offset", "max_version"), bounds, strict=True))
    )
    (claim,) = choose_properties(ASYNC_ISR, ["valid_high_watermark"])

    proof = Induction(model, [claim], lemmas_of(ASYNC_ISR), PLAIN).run()

    assert proof.verdict is Verdict.PROVED
    assert set(proof.invariants) == set(lemmas_of(ASYNC_ISR))


def test_without_the_maximal_isr_the_same_lemmas_hold_and_do_not_imply_the_claim():
    model = ASYNC_ISR.model({}, {"maximal_isr": False})
    (claim,) = choose_properties(ASYNC_ISR, ["valid_high_watermark"])

    assert lemmas_that_hold(model, lemmas_of(ASYNC_ISR)) == lemmas_of(ASYNC_ISR)
    proof = Induction(model, [claim], lemmas_of(ASYNC_ISR), PLAIN).run()
    assert proof.verdict is Verdict.NOT_INDUCTIVE
    assert proof.counterexample is not None and proof.counterexample.lemma == claim.name


@pytest.mark.slow
@pytest.mark.parametrize("settings", first_and_slow({"wait_for_epoch": False}, {}))
def test_one_representative_of_each_kind_of_step_gives_the_same_answers_as_all(settings):
    model = KIP320.model(SMALL, settings)
    some = Induction(model, ISR, LEMMAS, PLAIN).run()
    all_steps = Induction(model, ISR, LEMMAS, replace(PLAIN, symmetry=False)).run()
    assert some.symmetry and not all_steps.symmetry
    assert some.verdict is all_steps.verdict


# --- what is not proved -------------------------------------------------------------------------

FALLS = {
    ("kip320", "fence_truncation"): ("leader_got_there_first", "become_follower"),
    ("kip320", "fence_fetch"): ("epochs_in_logs", "follower_replicate"),
    ("kip320", "fence_high_watermark"): ("committed", "leader_advance_high_watermark"),
    ("kip320", "wait_for_epoch"): ("committed", "leader_expand_isr"),
    ("kip320_first_try", None): ("committed", "leader_expand_isr"),
    ("kip279", None): ("committed", "leader_expand_isr"),
    ("kip101", None): ("committed", "leader_expand_isr"),
    ("truncate_to_high_watermark", None): ("committed", "leader_expand_isr"),
}


@pytest.mark.parametrize(
    ("variant", "falls"), slow_but(list(FALLS.items())[1:3], FALLS.items()), ids=str
)
def test_a_broken_protocol_is_not_proved_and_falls_where_its_fence_is_missing(variant, falls):
    name, setting = variant
    model = protocol_named(name).model({}, {setting: False} if setting else {})

    proof = Induction(model, ISR, LEMMAS, PLAIN).run()

    assert proof.verdict is Verdict.NOT_INDUCTIVE
    assert exit_status(proof.verdict) == Exit.NOT_INDUCTIVE
    found = proof.counterexample
    assert found is not None and found.instance is not None
    assert (found.lemma, found.instance.action.name) == falls
    trace = trace_of(proof)  # replayed on the reference engine
    assert trace is not None and trace.verdict == TraceVerdict.NOT_INDUCTIVE


def test_every_lemma_of_the_counterexample_held_before_the_step():

    proof = Induction(KIP320.model(SMALL, {"wait_for_epoch": False}), ISR, LEMMAS, PLAIN).run()
    assert proof.counterexample is not None
    engine = ReferenceEngine(proof.model)

    (before,) = proof.counterexample.states

    assert all(engine.holds(lemma.claim, before) for lemma in LEMMAS)


def one_request_at_most(cluster):
    return cluster.next_leader_epoch <= 1


def someone_leads(cluster):
    return cluster.next_leader_epoch > 0


WRONG = Property("one_request_at_most", "at most one request is sent", one_request_at_most)
FALSE_AT_FIRST = Property("someone_leads", "a request was sent", someone_leads)


def test_a_wrong_lemma_is_not_proved():
    proof = Induction(KIP320.model(SMALL), ISR, (*LEMMAS, WRONG), PLAIN).run()

    assert proof.verdict is Verdict.NOT_INDUCTIVE
    assert proof.counterexample is not None
    assert proof.counterexample.lemma == "one_request_at_most"


def test_a_lemma_that_is_true_but_not_inductive_is_not_proved():
    (strong_isr,) = choose_properties(KIP320, ["strong_isr"])
    model = KIP320.model(SMALL)
    assert Explorer(model, [strong_isr], options=UNCHECKED).run().verdict is Verdict.EXHAUSTED

    proof = Induction(model, [strong_isr], (), PLAIN).run()

    assert proof.verdict is Verdict.NOT_INDUCTIVE
    trace = trace_of(proof)
    assert trace is not None and trace.verdict == TraceVerdict.NOT_INDUCTIVE


def test_a_property_that_is_false_initially_is_violated():
    proof = Induction(KIP320.model(SMALL), [FALSE_AT_FIRST], LEMMAS, PLAIN).run()

    assert proof.verdict is Verdict.VIOLATED
    assert exit_status(proof.verdict) == Exit.VIOLATED


def test_a_lemma_that_is_false_initially_is_no_violation():
    proof = Induction(KIP320.model(SMALL), ISR, (*LEMMAS, FALSE_AT_FIRST), PLAIN).run()

    assert proof.verdict is Verdict.NOT_INDUCTIVE
    assert proof.counterexample is not None and proof.counterexample.instance is None


def test_a_timeout_is_unknown():
    model = KIP320.model(sizes(3, 4, 4, 4))

    proof = Induction(model, ISR, LEMMAS, replace(PLAIN, timeout=0.001)).run()

    assert proof.verdict is Verdict.UNKNOWN
    assert exit_status(proof.verdict) == Exit.LIMIT
    assert proof.counterexample is None


def test_a_value_outside_its_domain_is_an_obligation_too():
    proof = Induction(KIP320.model(SMALL), (), [LEMMAS[1]], PLAIN).run()

    assert proof.verdict is Verdict.NOT_INDUCTIVE  # nothing keeps the HW within the log


def test_witnesses_cannot_be_proved():
    with pytest.raises(UsageError, match="sometimes"):
        Induction(KIP320.model(SMALL), choose_properties(KIP320, ["a_record_commits"]))


def test_vacuous_actions_are_named():
    model = KIP320.model(sizes(1, 1, 1, 0))
    alone = Induction(model, ISR, LEMMAS, PLAIN).run()
    assert alone.verdict is Verdict.PROVED
    assert "become_follower" in alone.never_enabled


# --- minimising ---------------------------------------------------------------------------------


@pytest.mark.nightly("half a minute: a proof without each of the lemmas")
def test_none_of_a_minimal_set_of_lemmas_can_be_left_out():
    model = KIP320.model(sizes(3, 3, 4, 2))

    kept = minimal_lemmas(model, ISR, LEMMAS)

    assert set(kept) < set(LEMMAS)
    assert Induction(model, ISR, kept, PLAIN).run().verdict is Verdict.PROVED
    for lemma in kept:
        without = [other for other in kept if other is not lemma]
        assert Induction(model, ISR, without, PLAIN).run().outcome is not ProofOutcome.PROVED


# --- bounded checking ---------------------------------------------------------------------------


def depth_by_search(model, claims):
    (violation,) = Explorer(model, claims, options=UNCHECKED).run().violations
    return violation.depth


def test_bounded_checking_finds_a_shortest_violation_that_replays():
    model = protocol_named("truncate_to_high_watermark").model(sizes(2, 1, 1, 1))
    strong = choose_properties(model.protocol, ["strong_isr"])
    depth = depth_by_search(model, strong)

    below = BoundedChecker(model, strong, cross_check=False).run(depth - 1)
    assert below.verdict is Verdict.BOUNDED
    found = BoundedChecker(model, strong, cross_check=False).run(depth + 1)

    assert found.verdict is Verdict.VIOLATED
    assert len(found.steps) == depth
    trace = trace_of(found)
    assert trace is not None and trace.verdict == TraceVerdict.VIOLATED


@pytest.mark.slow
@pytest.mark.parametrize("symmetry", first_and_slow(True, False))
def test_one_run_of_each_class_gives_the_same_depth_as_all(symmetry):
    model = protocol_named("truncate_to_high_watermark").model(sizes(3, 1, 1, 1))
    strong = choose_properties(model.protocol, ["strong_isr"])

    found = BoundedChecker(model, strong, symmetry=symmetry, cross_check=False).run(9)

    assert len(found.steps) == depth_by_search(model, strong)
    trace = trace_of(found)
    assert trace is not None and trace.verdict == TraceVerdict.VIOLATED


def test_members_that_are_told_apart_are_not_renamed():
    fixed_leader = protocol_named("async_isr").model()
    first = Property("first_is_blank", "", lambda c: c.replicas[0].log.is_empty)

    assert interchangeable(fixed_leader, ()) is None
    assert interchangeable(KIP320.model(SMALL), ISR) == "replicas"
    assert interchangeable(KIP320.model(SMALL), (first,)) is None


@pytest.mark.slow
def test_lemmas_that_hold_in_a_broken_protocol_do_not_hide_its_violation():
    model = protocol_named("truncate_to_high_watermark").model(sizes(2, 1, 1, 1))
    strong = choose_properties(model.protocol, ["strong_isr"])

    lemmas = lemmas_that_hold(model, lemmas_of(model.protocol))
    found = BoundedChecker(model, strong, lemmas, cross_check=False).run(12)

    assert lemmas and "committed" not in {lemma.name for lemma in lemmas}
    assert Explorer(model, lemmas, options=UNCHECKED).run().verdict is Verdict.EXHAUSTED
    assert len(found.steps) == depth_by_search(model, strong)


def test_bounded_checking_of_a_correct_protocol_is_bounded():
    result = BoundedChecker(KIP320.model(SMALL), ISR, cross_check=False).run(4)

    assert (result.verdict, result.depth) == (Verdict.BOUNDED, 4)


def test_bounded_checking_without_time_is_unknown():
    result = BoundedChecker(KIP320.model(SMALL), ISR, timeout=0.0, cross_check=False).run(30)

    assert result.verdict is Verdict.UNKNOWN
