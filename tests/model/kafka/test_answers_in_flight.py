"""With fix 18, answers that arrive at once or never show the same states as answers that travel.

Also where they have a log start to bring: the follower takes the HW first, and then that.
"""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from checker.core.engines.reference import ReferenceEngine
from checker.core.verdict import Verdict
from checker.lab.experiments.cases import read_case
from checker.lab.experiments.choices import steps_named
from model.kafka.state import DIVERGING_ANSWER, NO_ANSWER
from model.language import all_of, any_of, every, some
from properties import Property
from tests.support.kafka import FIX_36, SAFE, after, explored, kafka_model, reachable
from tests.support.laws import explore
from tests.support.tiers import first_and_slow, slow_but

CASES = Path(__file__).parents[3] / "counterexamples" / "kafka"
BOUNDS = [
    {"crashes": 1, "preferred_elections": 1, "max_leader_epoch": 1},
    {"power_losses": 1, "preferred_elections": 0, "max_leader_epoch": 1},
    {"preferred_elections": 2, "max_leader_epoch": 2, "replicas": 2, "max_records": 2},
]


@pytest.mark.parametrize(
    "bounds",
    slow_but(BOUNDS[2:], BOUNDS),
    ids=["crash", "power loss", "two replicas"],
)
def test_the_states_are_the_same_but_for_the_answers(bounds):
    settings = SAFE | FIX_36
    at_once, _ = reachable(kafka_model("kafka-4.1", settings, **bounds), ".answer.")
    travelling = settings | {"fetch.answers": "in_flight"}
    in_flight, states = reachable(kafka_model("kafka-4.1", travelling, **bounds), ".answer.")
    assert in_flight == at_once
    assert states > len(at_once)


def test_without_fix_18_there_are_more():
    bounds = {"preferred_elections": 3, "max_leader_epoch": 3, "replicas": 2}
    settings = SAFE | FIX_36 | {"answer.matches.request.epoch": "false"}
    at_once, _ = reachable(kafka_model("kafka-4.1", settings, **bounds), ".answer.")
    travelling = settings | {"fetch.answers": "in_flight"}
    in_flight, _ = reachable(kafka_model("kafka-4.1", travelling, **bounds), ".answer.")
    assert in_flight > at_once


KEPT = {"epoch.cache": "kept"}
DELETIONS = [
    {"replicas": 2, "max_leader_epoch": 1, "crashes": 1, "preferred_elections": 1},
    {"replicas": 2, "max_leader_epoch": 1, "power_losses": 1},
    {"replicas": 3, "max_leader_epoch": 1},
]


def deleting(settings=None, **bounds):
    """The model with every fix, caches of its own, answers that travel and a deletion."""
    chosen = SAFE | KEPT | {"fetch.answers": "in_flight"} | (settings or {})
    return kafka_model("kafka-fixed", chosen, **({"replicas": 2, "record_deletions": 1} | bounds))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bounds", "written"),
    slow_but(
        [(DELETIONS[1], "later")],
        itertools.product(DELETIONS, ["at_once", "later"]),
    ),
    ids=str,
)
def test_the_states_are_the_same_also_where_records_are_deleted(bounds, written):
    settings = {"log.start.file": written}
    at_once, _ = reachable(deleting(settings | {"fetch.answers": "at_once"}, **bounds), ".answer.")
    in_flight, states = reachable(deleting(settings, **bounds), ".answer.")
    assert in_flight == at_once
    assert states > len(at_once)


@pytest.mark.slow
def test_without_a_deletion_answers_have_nothing_more_to_bring():
    """With the budget at 0 the variable is a constant, so that no count is another."""
    assert "brokers.answer.log_start" in deleting(record_deletions=0).unchanging
    assert "brokers.answer.log_start" not in deleting().unchanging


COMMITTED = (
    "producer_send(leader=b0)",
    "follower_send_fetch(follower=b1, leader=b0)",
    "follower_receive_record(follower=b1)",
    "leader_handle_fetch(leader=b0, follower=b1)",
)
DELETED = "broker_delete_records(broker=b0, start=1)"
SENT = "follower_send_fetch(follower=b1, leader=b0)"
TAKEN = "follower_receive_high_watermark(follower=b1)"


def bounds_after(*steps):
    """HW and log start of b1 after these steps."""
    model = deleting()
    state = after(model, *COMMITTED, *steps)
    at = {(cell.variable.name, *cell.index): cell.position for cell in model.cells}
    return state[at["brokers.high_watermark", 1]], state[at["brokers.log_start", 1]]


def test_a_follower_takes_the_high_watermark_first_and_then_the_log_start():
    assert bounds_after() == (0, 0)
    assert bounds_after(DELETED, SENT, TAKEN) == (1, 1)


@pytest.mark.slow
def test_an_answer_has_both_as_they_were_when_it_left():
    assert bounds_after(SENT, DELETED, TAKEN) == (1, 0)
    assert bounds_after(SENT, DELETED, TAKEN, SENT, TAKEN) == (1, 1)


def enabled(model, steps, step):
    """Whether a step may be taken after some others."""
    (instance,) = steps_named(model, [step])
    return ReferenceEngine(model).step(after(model, *steps), instance) is not None


def test_a_follower_below_the_leaders_log_start_has_no_answer_but_that_it_is_out_of_range():
    model, waiting = deleting(replicas=3), "follower_send_fetch(follower=b2, leader=b0)"
    lost = "follower_ignore_answer(follower=b2)"
    anew = "follower_start_anew(follower=b2, leader=b0)"
    left_behind = (
        *COMMITTED,
        "leader_propose_shrink(leader=b0, follower=b2)",
        "controller_apply_isr_change()",
        "leader_apply_metadata(broker=b0)",
    )
    assert enabled(model, (*left_behind, DELETED), anew)
    assert not enabled(model, (*left_behind, DELETED), waiting)
    assert not enabled(model, (*left_behind, waiting, DELETED), anew)
    assert enabled(model, (*left_behind, waiting, DELETED, lost), anew)


def test_no_other_fetch_is_counted_while_the_response_to_the_last_one_travels():
    model = deleting(replicas=3)
    behind = (
        "producer_send(leader=b0)",
        "leader_propose_shrink(leader=b0, follower=b2)",
        "controller_apply_isr_change()",
        "leader_apply_metadata(broker=b0)",
    )
    sent = (*behind, "follower_send_fetch(follower=b2, leader=b0)")
    counted = "leader_propose_expand(leader=b0, follower=b2)"
    assert enabled(model, behind, counted)
    assert not enabled(model, sent, counted)
    assert enabled(model, (*sent, "follower_ignore_answer(follower=b2)"), counted)


def test_nor_does_the_follower_look_up_where_to_truncate_in_the_leaders_next_epoch():
    model = kafka_model("kafka-2.1", SAFE, log_size=2, max_records=2, crashes=1)
    again = (
        "producer_send(leader=b0)",
        "follower_send_fetch(follower=b1, leader=b0)",
        "follower_receive_record(follower=b1)",
        "producer_send(leader=b0)",
        "follower_send_fetch(follower=b1, leader=b0)",
        "broker_crash(broker=b2, checkpoint=0)",
        "controller_fence_broker(broker=b2)",
        "leader_apply_metadata(broker=b0)",
        "follower_apply_metadata(broker=b1)",
    )
    looked_up = "follower_truncate(follower=b1, leader=b0)"
    assert not enabled(model, again, looked_up)
    assert enabled(model, (*again, "follower_ignore_answer(follower=b1)"), looked_up)


@pytest.mark.parametrize(
    "settings, is_written_over",
    [
        ({"truncation.begins.segment": "false"}, True),
        ({"truncation.begins.segment": "true"}, False),
        ({"truncation.begins.segment": "false", "fetch.answers": "in_flight"}, False),
    ],
)
def test_what_is_being_sent_is_not_written_over_where_a_truncation_begins_a_segment(
    settings, is_written_over
):
    case = read_case(CASES / "94-a_record_of_an_earlier_epoch_is_sent")
    bounds = {"preferred_elections": 2, "max_leader_epoch": 2, "log_size": 2, "max_records": 4}
    chosen = SAFE | {"fetch.answers": "read_late"} | settings
    model = kafka_model("kafka-fixed", chosen, **bounds)
    late = next(step for step in case.steps if "rewritten" in step)
    before = case.steps[: case.steps.index(late)]
    assert enabled(model, before, late) == is_written_over
    assert enabled(model, before, "follower_receive_record(follower=b2)")


NOTHING_TO_TAKE = Property(
    "a_diverging_answer_has_nothing_to_take",
    "an answer that says that the logs diverge, or none, has neither HW nor log start",
    lambda p: every(
        any_of(
            all_of(b.answer.kind != NO_ANSWER, b.answer.kind != DIVERGING_ANSWER),
            all_of(b.answer.high_watermark == 0, b.answer.log_start == 0),
        )
        for b in p.brokers
    ),
    premise=lambda p: some(
        all_of(b.answer.kind == DIVERGING_ANSWER, p.spent.record_deletions > 0) for b in p.brokers
    ),
)


def test_an_answer_that_says_that_logs_diverge_has_no_log_start():
    bounds = {"max_records": 3, "log_size": 2, "max_leader_epoch": 1, "false_fencings": 1}
    result = explore(deleting(**bounds), [NOTHING_TO_TAKE])
    assert result.verdict is Verdict.EXHAUSTED
    assert not result.is_vacuous(NOTHING_TO_TAKE)


@pytest.mark.slow
@pytest.mark.parametrize(
    "faults", first_and_slow({"crashes": 1}, {"power_losses": 1}, {"false_fencings": 1})
)
def test_answers_that_travel_lose_nothing_but_what_is_deleted(faults):
    model = deleting(log_size=2, max_records=2, preferred_elections=1, **faults)
    assert explored(model, symmetry=True).verdict is Verdict.EXHAUSTED
