"""The broker model's lemmas hold in every reachable state, and fall where a fix is off."""

from __future__ import annotations

from pathlib import Path

import pytest
import z3

from checker.core.engines.symbolic import SymbolicEngine
from checker.core.verdict import Verdict
from checker.lab.experiments.cases import read_case
from model.kafka.leader_epoch_cache import local_truncation
from model.kafka.protocol import KAFKA
from model.kafka.state import DIVERGING_ANSWER, TopicPartition
from model.language import all_of, every, implies
from properties import lemmas_of, properties_of
from properties.claims import always
from properties.kafka.lemmas import answers, logs
from tests.support.kafka import FIX_36, SAFE, explored_for, kafka_model
from tests.support.tiers import nightly, slow_but

CASES = Path(__file__).parents[2] / "counterexamples" / "kafka"
LEMMAS = lemmas_of(KAFKA)
AT_ONCE = {"fetch.answers": "at_once"}


def test_lemmas_have_their_own_names_and_say_what_they_mean_and_what_breaks_them():
    shared = {prop.name: prop for prop in properties_of(KAFKA)}

    assert len({lemma.name for lemma in LEMMAS}) == len(LEMMAS)
    assert all(shared.get(lemma.name, lemma) is lemma for lemma in LEMMAS)
    assert all(lemma.words and lemma.failure and lemma.broken_by for lemma in LEMMAS)


REACHABLE = {
    "as it is": kafka_model("kafka-4.1", crashes=1, preferred_elections=1),
    "four epochs, no fix 36": kafka_model(
        "kafka-4.1", crashes=1, preferred_elections=1, max_leader_epoch=3
    ),
    "two records": kafka_model(
        "kafka-4.1", FIX_36, log_size=2, max_records=2, preferred_elections=1, max_leader_epoch=1
    ),
    "a power loss": kafka_model(
        "kafka-4.1", SAFE | FIX_36, power_losses=1, preferred_elections=1, max_leader_epoch=1
    ),
    "failover, false fencing": kafka_model(
        "kafka-4.1", FIX_36, controller_failovers=1, false_fencings=1, max_leader_epoch=1
    ),
    "answers in flight": kafka_model(
        "kafka-4.1", SAFE | {"fetch.answers": "in_flight"}, preferred_elections=1
    ),
    "a consumer": kafka_model(
        "kafka-4.1", {}, consumers=1, consumer_restarts=1, preferred_elections=1, max_leader_epoch=1
    ),
    "kafka-2.1": kafka_model("kafka-2.1", SAFE | AT_ONCE, crashes=1, preferred_elections=1),
    "unclean elections": kafka_model(
        "kafka-4.1", {"unclean.leader.election.enable": "true"}, crashes=2
    ),
}


OFTEN = ("four epochs, no fix 36", "a power loss", "answers in flight")


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [n if n in OFTEN else nightly("other faults", n) for n in REACHABLE]
)
def test_every_lemma_holds_in_every_reachable_state(name):
    result = explored_for(LEMMAS, REACHABLE[name])

    assert [violation.property.name for violation in result.violations] == []
    assert result.verdict is Verdict.EXHAUSTED


FALLEN = {
    "14-a_diverging_fetch_is_counted": {
        "what_may_be_exposed_is_held",
        "candidates_hold_what_was_exposed",
    },
    "15-the_high_watermark_of_a_diverging_answer": {"high_watermarks_cover_what_was_exposed"},
    "19-a_pending_isr_member_is_not_counted": {
        "leader_counts_the_isr",
        "leader_counts_candidates",
        "candidates_hold_what_was_exposed",
    },
    "26-high_watermark_below_min_isr": {"leader_counts_candidates"},
    "37-a_pending_isr_member_is_forgotten": {
        "request_of_the_leader",
        "leader_counts_candidates",
        "candidates_hold_what_was_exposed",
    },
}


@pytest.mark.slow
@pytest.mark.parametrize("name", slow_but(("19-a_pending_isr_member_is_not_counted",), FALLEN))
def test_without_a_fix_lemmas_fall_in_reachable_states(name):
    model = read_case(CASES / name).broken.model

    result = explored_for(LEMMAS, model)

    assert {violation.property.name for violation in result.violations} >= FALLEN[name]


@always("cut_as_it_says", "the lemma knows of every entry that an answer makes a follower cut")
def cut_as_it_says(partition: TopicPartition) -> bool:
    return every(
        implies(
            all_of(
                follower.answer.kind == DIVERGING_ANSWER,
                follower.answer.offset == follower.log.end,
                follower.log.has(offset),
                local_truncation(follower.log, follower.answer.epoch, follower.answer.end)
                <= offset,
            ),
            answers.cuts(follower, offset),
        )
        for follower in partition.brokers
        for offset in follower.log.positions
    )


@pytest.mark.parametrize("in_order", [True, False])
def test_a_late_truncation_cuts_what_the_lemma_says_where_epochs_are_in_order(in_order):
    """Offset by offset: no search along the log, as the follower makes one."""
    settings = {"fetch.answers": "in_flight"}
    sizes = {"replicas": 2, "log_size": 2}
    engine = SymbolicEngine(kafka_model("kafka-4.1", settings, **sizes))
    solver = z3.SolverFor("QF_FD")
    solver.add(engine.in_domain(), z3.Not(engine.claim(cut_as_it_says)))
    if in_order:
        solver.add(engine.claim(logs.epochs_in_logs))

    assert solver.check() == (z3.unsat if in_order else z3.sat)
