"""Proofs about the broker model: what they cover, and at which lemma they fall without a fix."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from checker.core.engines.reference import ReferenceEngine
from checker.core.proofs.bounded.induction import Induction, InductionOptions
from checker.core.proofs.proof import Proof
from checker.core.proofs.proof_report import trace_of
from checker.core.traces.trace import TraceVerdict
from checker.core.verdict import Verdict
from checker.lab.experiments.cases import read_case
from model.kafka.protocol import KAFKA
from model.language.protocol import Model
from properties import Sense, choose_properties, lemmas_of, promised_properties
from tests.support.kafka import FIX_36
from tests.support.tiers import first_and_nightly, first_and_slow, nightly

ROOT = Path(__file__).parents[3] / "counterexamples" / "kafka"
LEMMAS = lemmas_of(KAFKA)
SURVIVAL = (
    "exposed_records_survive",
    "acknowledged_records_survive",
    "logs_agree_below_high_watermark",
    "consumers_agree",
)


OPTIONS = InductionOptions(cross_check=False)


def broker_model(preset, settings=None, **bounds) -> Model:
    return KAFKA.model(bounds, {**KAFKA.preset(preset), **(settings or {})})


def proved(model: Model, names=SURVIVAL) -> Proof:
    return Induction(model, choose_properties(KAFKA, names), LEMMAS, OPTIONS).run()


CONSUMER = {"consumers": 1, "consumer_restarts": 1, "log_size": 2, "max_records": 2}


@pytest.mark.slow
@pytest.mark.parametrize(
    "bounds", [pytest.param({}, id="defaults"), pytest.param(CONSUMER, id="with a consumer")]
)
def test_all_that_kafka_4_1_promises_is_proved_at_the_default_bounds(bounds):
    model = broker_model("kafka-4.1", **bounds)
    promised = [p for p in promised_properties(model) if p.sense is Sense.ALWAYS]

    proof = Induction(model, promised, LEMMAS).run()

    assert proof.verdict is Verdict.PROVED
    assert set(proof.invariants) >= set(LEMMAS)
    assert {p.name for p in promised} >= {*SURVIVAL, "acknowledged_record_on_some_disk"}
    faults = {"producer_send", "controller_fence_leader", "broker_crash", "broker_restart"}
    assert faults.isdisjoint(proof.never_enabled)


LOSSLESS = {
    "crashes": 3,
    "shutdowns": 2,
    "false_fencings": 2,
    "preferred_elections": 3,
    "controller_failovers": 2,
}
LOSSES = LOSSLESS | {
    "power_losses": 2,
    "cache_losses": 2,
    "disk_losses": 2,
    "rack_failures": 1,
}
TWO_RECORDS = {"log_size": 2, "max_records": 2}
AT_ONCE = {"fetch.answers": "at_once", "acks": "all", "min.insync.replicas": "2"}
IN_FLIGHT = {"fetch.answers": "in_flight", "answer.matches.request.epoch": "true"}
NO_LAST_LEADER = {"last.known.leader.election": "false"}

COVERED: dict[str, Any] = {
    "every fault that keeps logs": (
        ("kafka-4.1", FIX_36),
        LOSSLESS | TWO_RECORDS | {"max_leader_epoch": 5},
    ),
    "every fault, no last known leader": (
        ("kafka-4.1", FIX_36 | NO_LAST_LEADER),
        LOSSES | TWO_RECORDS,
    ),
    "fewer unclean stops than the minimal ISR": (
        ("kafka-4.1", FIX_36 | {"min.insync.replicas": "3"}),
        {"crashes": 1, "power_losses": 1, "shutdowns": 2, "false_fencings": 2},
    ),
    "three leader epochs": (
        ("kafka-4.1", NO_LAST_LEADER),
        LOSSES | {"max_leader_epoch": 2},
    ),
    "answers and images apart": (
        ("kafka-4.1", FIX_36 | {"isr.answer.apart": "true", "pending.isr.survives.image": "true"}),
        LOSSLESS,
    ),
    "answers in flight": (("kafka-4.1", FIX_36 | IN_FLIGHT), LOSSLESS | TWO_RECORDS),
    "kafka-2.1": (("kafka-2.1", FIX_36 | AT_ONCE), LOSSLESS | TWO_RECORDS),
    "nobody deposed alive": (("kafka-4.1", {}), {"crashes": 3, "preferred_elections": 0}),
    "no ELR": (("kafka-4.1", FIX_36 | {"eligible.leader.replicas": "false"}), LOSSLESS),
    "kafka-2.1, answers in flight": (
        ("kafka-2.1", FIX_36 | AT_ONCE | IN_FLIGHT),
        LOSSLESS | TWO_RECORDS,
    ),
    "kafka-2.7": (("kafka-2.7", FIX_36 | AT_ONCE), LOSSLESS | TWO_RECORDS),
    "kafka-3.5": (("kafka-3.5", FIX_36 | AT_ONCE), LOSSLESS | TWO_RECORDS),
}


QUICK = "three leader epochs"
EVERY_TIME = ("every fault, no last known leader", "answers in flight")
OTHERS = [name for name in COVERED if name not in (QUICK, *EVERY_TIME)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        *first_and_slow(QUICK, *EVERY_TIME),
        *(nightly("the same lemmas with other settings", name) for name in OTHERS),
    ],
)
def test_records_are_proved_to_survive(name):
    choice, bounds = COVERED[name]

    assert proved(broker_model(*choice, **bounds)).verdict is Verdict.PROVED


@pytest.mark.nightly("half a minute and more: other sizes of what is proved on every change")
@pytest.mark.parametrize("replicas", [3, 5])
def test_records_are_proved_to_survive_at_larger_sizes(replicas):
    settings = FIX_36 | NO_LAST_LEADER | {"min.insync.replicas": "2"}
    sizes = {"log_size": 5, "max_records": 8, "max_leader_epoch": 7, "replicas": replicas}
    model = broker_model("kafka-4.1", settings, **(LOSSES | sizes))

    assert proved(model).verdict is Verdict.PROVED


@pytest.mark.slow
def test_lemmas_about_views_and_logs_need_no_others_and_no_clean_elections():
    names = [
        "high_watermark_within_log",
        "memory_of_the_stopped",
        "views_not_ahead",
        "epochs_name_leaders",
        "one_leader_per_epoch",
        "record_ids_issued",
        "epochs_in_logs",
        "log_matching",
        "records_come_from_leaders",
        "controller_in_order",
        "request_of_the_leader",
    ]
    lemmas = choose_properties(KAFKA, names)
    unclean = {"unclean.leader.election.enable": "true"}
    model = broker_model("kafka-4.1", unclean, **(LOSSES | TWO_RECORDS))

    proof = Induction(model, lemmas, lemmas).run()

    assert proof.verdict is Verdict.PROVED
    assert "controller_elect_unclean_leader" not in proof.never_enabled


@pytest.mark.slow
def test_what_needs_no_clean_elections_and_no_fix_36_is_proved_without():
    model = broker_model("kafka-4.1", {"unclean.leader.election.enable": "true"}, **LOSSES)
    names = ["leader_counts_the_isr", "leader_high_watermark_grows", "epochs_grow"]

    assert proved(model, names).verdict is Verdict.PROVED


# --- what is not proved --------------------------------------------------------------------------

COMMITTED = {
    "what_may_be_exposed_is_held",
    "candidates_hold_what_was_exposed",
    "leaders_hold_what_was_exposed",
    "candidates_follow_holders",
}
FALLS = {
    "02-one_lookup_is_not_enough": ("follower_truncate", {"follower_has_prefix", *COMMITTED}),
    "09-joining_below_the_epoch_start": ("leader_propose_expand", COMMITTED),
    "10-a_fetch_from_the_past": ("follower_fetch_record", {"epochs_in_logs"}),
    "14-a_diverging_fetch_is_counted": ("leader_handle_fetch", {"what_may_be_exposed_is_held"}),
    "15-the_high_watermark_of_a_diverging_answer": (
        "follower_take_diverging_high_watermark",
        {"high_watermarks_cover_what_was_exposed"},
    ),
    "18-an_answer_from_an_earlier_epoch": ("leader_apply_metadata", {"answers_of_this_epoch"}),
    "19-a_pending_isr_member_is_not_counted": (
        "leader_propose_expand",
        {"leader_counts_candidates"},
    ),
    "21-a_fenced_broker_in_the_isr": ("controller_apply_isr_change", {"isr_members_unfenced"}),
    "22-a_replica_joins_with_an_empty_disk": ("broker_restart", COMMITTED),
    "26-high_watermark_below_min_isr": (
        "controller_reject_isr_change",
        {"leader_counts_candidates"},
    ),
    "37-a_pending_isr_member_is_forgotten": ("leader_read_known_image", {"request_of_the_leader"}),
}
"""For each fix that is off: the action that breaks the proof, and the lemmas that it may break.

Which of them the counterexample shows is for the solver to choose.
"""


OFTEN = ("19-a_pending_isr_member_is_not_counted",)
SAME = "a proof falls in the same way where other fixes are off"


@pytest.mark.parametrize("name", [n if n in OFTEN else nightly(SAME, n) for n in FALLS])
def test_without_a_fix_the_proof_falls_at_what_the_fix_is_for(name):
    case = read_case(ROOT / name)

    proof = proved(case.broken.model, [case.violates])

    assert proof.verdict is Verdict.NOT_INDUCTIVE
    found = proof.counterexample
    assert found is not None and found.instance is not None
    action, lemmas = FALLS[name]
    assert found.instance.action.name == action
    assert found.lemma in lemmas
    engine = ReferenceEngine(proof.model)
    (before,) = found.states
    assert all(engine.holds(lemma.claim, before) for lemma in LEMMAS)
    trace = trace_of(proof)  # replayed on the reference engine
    assert trace is not None and trace.verdict == TraceVerdict.NOT_INDUCTIVE


NOT_CLAIMED = (
    "25-unclean_election",
    "27-last_replica_standing",
    "36-positions_from_a_missed_epoch",
    "acks_1",
    "consumer_sees_a_record_twice",
    "consumer_skips_a_record",
)


@pytest.mark.slow
@pytest.mark.parametrize("name", first_and_nightly(SAME, *NOT_CLAIMED))
def test_where_the_lemmas_claim_nothing_the_property_falls_itself(name):
    case = read_case(ROOT / name)

    proof = proved(case.broken.model, [case.violates])

    assert proof.verdict is Verdict.NOT_INDUCTIVE
    assert proof.counterexample is not None and proof.counterexample.lemma == case.violates


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    first_and_nightly("the same lemmas with the settings of other cases", *FALLS, *NOT_CLAIMED),
)
def test_with_the_fix_it_is_proved(name):
    case = read_case(ROOT / name)

    assert case.fix is not None
    assert proved(case.fix.model, [case.violates]).verdict is Verdict.PROVED
