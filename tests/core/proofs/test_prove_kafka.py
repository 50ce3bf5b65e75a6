"""Proofs about the broker model: what they cover, and at which lemma they fall without a fix."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from checker.commands.prove_command import provable_properties
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
from tests.support import proof_rows as rows
from tests.support.tiers import first_and_nightly

LEMMAS = lemmas_of(KAFKA)
SURVIVAL = tuple(rows.table()["groups"]["survival"])

OPTIONS = InductionOptions(cross_check=False)


def broker_model(settings=None, **bounds) -> Model:
    return KAFKA.model(bounds, {**KAFKA.preset("kafka-4.1"), **(settings or {})})


def proved(model: Model, names=SURVIVAL) -> Proof:
    return Induction(model, choose_properties(KAFKA, names), LEMMAS, OPTIONS).run()


CONSUMER = {"consumers": 1, "consumer_restarts": 1, "log_size": 2, "max_records": 2}


@pytest.mark.slow
@pytest.mark.parametrize(
    "bounds", [pytest.param({}, id="defaults"), pytest.param(CONSUMER, id="with a consumer")]
)
def test_all_that_kafka_4_1_promises_is_proved_at_the_default_bounds(bounds):
    model = broker_model(**bounds)
    promised = [p for p in promised_properties(model) if p.sense is Sense.ALWAYS]

    proof = Induction(model, promised, LEMMAS).run()

    assert proof.verdict is Verdict.PROVED
    assert set(proof.invariants) >= set(LEMMAS)
    assert {p.name for p in promised} >= {*SURVIVAL, "acknowledged_record_on_some_disk"}
    faults = {"producer_send", "controller_fence_leader", "broker_crash", "broker_restart"}
    assert faults.isdisjoint(proof.never_enabled)


LOSSES = dict.fromkeys(rows.table()["faults"]["all faults"], 2) | {"rack_failures": 1}
TWO_RECORDS = {"log_size": 2, "max_records": 2}
NIGHT = "the same lemmas with other settings and sizes, a quarter of a minute each"


def asked(of: Iterable[rows.Row]) -> list[Any]:
    """The rows about the broker model within bounds, as often as they say."""
    marks: dict[str, list[Any]] = {
        "change": [],
        "slow": [pytest.mark.slow],
        "night": [pytest.mark.nightly(NIGHT)],
    }
    return [
        pytest.param(row, id=row.name, marks=marks[row.when])
        for row in of
        if row.choice.protocol == "kafka" and "bounds" in row.sizes
    ]


@pytest.mark.parametrize("row", asked(rows.proved()))
def test_what_the_page_says_is_proved_is_proved(row):
    model = row.choice.model
    names = row.properties or [p.name for p in provable_properties(model, ())]

    assert proved(model, names).verdict is Verdict.PROVED


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
    model = broker_model(unclean, **(LOSSES | TWO_RECORDS))

    proof = Induction(model, lemmas, lemmas).run()

    assert proof.verdict is Verdict.PROVED
    assert "controller_elect_unclean_leader" not in proof.never_enabled


@pytest.mark.slow
def test_what_needs_no_clean_elections_and_no_fix_36_is_proved_without():
    model = broker_model({"unclean.leader.election.enable": "true"}, **LOSSES)
    names = ["leader_counts_the_isr", "leader_high_watermark_grows", "epochs_grow"]

    assert proved(model, names).verdict is Verdict.PROVED


# --- what is not proved --------------------------------------------------------------------------

SAME = "a proof falls in the same way where other fixes are off"


@pytest.mark.parametrize("row", asked(rows.falling()))
def test_without_a_fix_the_proof_falls_at_what_the_fix_is_for(row):
    """Which of a row's lemmas the counterexample shows is for the solver to choose."""
    proof = proved(row.choice.model, row.properties)

    assert proof.verdict is Verdict.NOT_INDUCTIVE
    found = proof.counterexample
    assert found is not None and found.instance is not None
    assert found.instance.action.name == row.action
    assert found.lemma in row.lemmas
    engine = ReferenceEngine(proof.model)
    (before,) = found.states
    assert all(engine.holds(lemma.claim, before) for lemma in LEMMAS)
    trace = trace_of(proof)  # replayed on the reference engine
    assert trace is not None and trace.verdict == TraceVerdict.NOT_INDUCTIVE


FALLING = [row.case.removeprefix("kafka/") for row in rows.falling() if row.case]
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
    case = read_case(rows.CASES / "kafka" / name)

    proof = proved(case.broken.model, [case.violates])

    assert proof.verdict is Verdict.NOT_INDUCTIVE
    assert proof.counterexample is not None and proof.counterexample.lemma == case.violates


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    first_and_nightly("the same lemmas with the settings of other cases", *FALLING, *NOT_CLAIMED),
)
def test_with_the_fix_it_is_proved(name):
    case = read_case(rows.CASES / "kafka" / name)

    assert case.fix is not None
    assert proved(case.fix.model, [case.violates]).verdict is Verdict.PROVED
