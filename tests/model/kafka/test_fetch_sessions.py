"""A follower that did not take what it was told is told it again, or never (finding 0015)."""

from __future__ import annotations

import pytest

from checker.core.engines.reference import ReferenceEngine
from checker.core.liveness.search import LivenessSearch
from checker.core.search.question import Options
from checker.core.traces.trace import check_trace
from checker.core.verdict import Verdict
from checker.lab.experiments.choices import steps_named
from checker.lab.experiments.liveness_table import lasso_trace
from model.kafka.protocol import KAFKA
from model.kafka.state import NOT_TOLD
from model.language import all_of, any_of, every, not_, some
from model.language.fairness import changed
from properties import Property, choose_liveness
from properties.kafka import safety
from tests.support.kafka import after
from tests.support.laws import explore

NAME = "followers_learn_the_high_watermark"
STARTS = "followers_learn_where_the_log_starts"
BOUNDS = {
    "replicas": 2, "log_size": 2, "max_records": 2, "max_leader_epoch": 1, "crashes": 1,
    "preferred_elections": 0, "unclean_elections": 0,
}  # fmt: skip
SESSIONS = {"fetch.sessions": "true"}
REPEATS = {"session.repeats.diverging.answer": "true"}


def model_of(preset="4.3", bounds=BOUNDS, **settings):
    return KAFKA.model(bounds, dict(KAFKA.preset(f"kafka-{preset}")) | settings)


def judge(model, name=NAME, fairness=KAFKA.fairness):
    """The judgement on followers that are to learn something; its trace is checked."""
    prop = choose_liveness(KAFKA, name)
    options = Options(cross_check=False)
    search = LivenessSearch(model, (), (prop,), fairness, options=options)
    (judgement,) = search.run().liveness
    trace = lasso_trace(model, judgement)
    if trace is not None:
        check_trace(trace)
    return judgement


TOLD_BY_THIS_LEADER = Property(
    "what_counts_as_told_is_of_the_leader",
    "what counts as told is forgotten by who stops, leads or follows another, and as the leader "
    "stops",
    lambda p, after: every(
        any_of(
            after.brokers[broker].counted_as_told == NOT_TOLD,
            all_of(
                after.brokers[broker].up,
                not_(after.brokers[broker].leads),
                after.brokers[broker].leader == broker.leader,
                some(
                    all_of(after.brokers[broker].leader == other, after.brokers[other].up)
                    for other in p.brokers
                ),
            ),
        )
        for broker in p.brokers
    ),
    of_steps=True,
)
TOLD_IN_THIS_EPOCH = Property(
    "what_counts_as_told_is_of_the_leader_epoch",
    "what counts as told is forgotten in another leader epoch",
    lambda p, after: every(
        any_of(
            after.brokers[broker].counted_as_told == NOT_TOLD,
            after.brokers[broker].leader_epoch == broker.leader_epoch,
        )
        for broker in p.brokers
    ),
    of_steps=True,
)


def states(model):
    return explore(model, [safety.high_watermark_within_log]).distinct_states


@pytest.mark.slow
def test_a_follower_that_has_truncated_is_never_told_again():
    judgement = judge(model_of(**SESSIONS))
    assert judgement.verdict is Verdict.VIOLATED
    assert judgement.lasso is not None
    assert judgement.lasso.loop == ()
    assert "follower_truncate_on_fetch" in {step.action.name for step in judgement.lasso.stem}


@pytest.mark.parametrize("settings", [{}, SESSIONS | REPEATS], ids=["all is said", "said again"])
def test_a_follower_that_is_told_again_learns_it(settings):
    assert judge(model_of(**settings)).verdict is Verdict.EXHAUSTED


def test_a_follower_that_truncates_nothing_learns_it():
    assert judge(model_of(bounds=BOUNDS | {"crashes": 0}, **SESSIONS)).verdict is Verdict.EXHAUSTED


def test_a_session_that_says_all_again_leaves_nothing_out():
    with_all_said = states(model_of())
    assert states(model_of(**SESSIONS, **REPEATS)) == with_all_said
    assert states(model_of(**SESSIONS)) != with_all_said


@pytest.mark.parametrize(
    ("loss", "answers"), [("crashes", "in_flight"), ("rack_failures", "at_once")]
)
def test_what_counts_as_told_is_forgotten_with_the_leader(answers, loss):
    sizes = {"max_leader_epoch": 2, "preferred_elections": 2, "log_size": 1, "max_records": 1}
    bounds = BOUNDS | sizes | {"crashes": 0} | {loss: 1}
    racks = {"broker.rack": "together", "fetch.answers": answers}
    model = model_of(bounds=bounds, **SESSIONS, **racks)
    assert not explore(model, [TOLD_BY_THIS_LEADER]).violations
    in_flight = answers == "in_flight"
    assert bool(explore(model, [TOLD_IN_THIS_EPOCH]).violations) is in_flight


def test_what_counts_as_told_is_forgotten_by_who_follows_another():
    sizes = {"replicas": 3, "preferred_elections": 1, "log_size": 1, "max_records": 1, "crashes": 0}
    model = model_of(bounds=BOUNDS | sizes, **SESSIONS, **FLIGHT)
    assert not explore(model, [TOLD_BY_THIS_LEADER]).violations


FLIGHT = {"fetch.answers": "in_flight"}
ARRIVES = tuple(
    f"follower_receive_{what}=strong" for what in ("record", "high_watermark", "divergence")
)
"""Not each answer is lost for ever."""
SAME_LEADER = BOUNDS | {
    "log_size": 1, "max_records": 1, "max_leader_epoch": 2, "crashes": 0, "preferred_elections": 2,
}  # fmt: skip


def judge_in_flight(**settings):
    model = model_of(bounds=SAME_LEADER, **{"min.insync.replicas": "2"}, **FLIGHT, **settings)
    return judge(model, fairness=changed(KAFKA.fairness, ARRIVES))


def test_an_answer_that_is_dropped_in_a_new_epoch_of_the_same_leader_counts_as_told():
    judgement = judge_in_flight(**SESSIONS)
    assert judgement.verdict is Verdict.VIOLATED
    assert judgement.lasso is not None
    assert (len(judgement.lasso.stem), judgement.lasso.loop) == (9, ())
    assert judgement.lasso.stem[-1].action.name == "follower_apply_metadata"
    taken = {step.action.name for step in judgement.lasso.stem}
    assert not taken & {"follower_receive_divergence", "follower_ignore_answer"}


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{}, REPEATS], ids=["counts as told", "said again"])
def test_a_replica_that_is_taken_out_makes_another_drop_its_answer(settings):
    moves = {"replicas": 3, "replica_removals": 1, "preferred_elections": 0, "max_leader_epoch": 1}
    fixed = {"replication.factor": "3", "min.insync.replicas": "2"}
    model = model_of(bounds=SAME_LEADER | moves, **fixed, **FLIGHT, **SESSIONS, **settings)
    judgement = judge(model, fairness=changed(KAFKA.fairness, ARRIVES))
    assert judgement.verdict is (Verdict.EXHAUSTED if settings else Verdict.VIOLATED)
    assert judgement.lasso is None or len(judgement.lasso.stem) == 11


@pytest.mark.parametrize(
    "settings",
    [SESSIONS | REPEATS, SESSIONS | {"answer.matches.request.epoch": "false"}, {}],
    ids=["said again", "taken in any epoch", "all is said"],
)
def test_an_answer_that_is_dropped_is_given_again(settings):
    assert judge_in_flight(**settings).verdict is Verdict.EXHAUSTED


SENT = "follower_send_fetch(follower=b1, leader=b0)"
COMMITTED = (
    "producer_send(leader=b0)",
    SENT,
    "follower_receive_record(follower=b1)",
    "leader_handle_fetch(leader=b0, follower=b1)",
)
TAKEN, LOST = "follower_receive_high_watermark(follower=b1)", "follower_ignore_answer(follower=b1)"


def test_a_lost_answer_ends_the_session_and_one_that_is_taken_leaves_nothing_to_say():
    model = model_of(bounds=SAME_LEADER, **{"min.insync.replicas": "2"}, **FLIGHT, **SESSIONS)
    told = {cell.index: cell.position for cell in model.cells if ".counted" in cell.variable.name}
    counted = [after(model, *steps)[told[1,]] for steps in (COMMITTED, (*COMMITTED, SENT))]
    assert counted == [NOT_TOLD, 1]
    assert after(model, *COMMITTED, SENT, TAKEN)[told[1,]] == NOT_TOLD
    assert after(model, *COMMITTED, SENT, LOST, SENT, TAKEN) == after(
        model, *COMMITTED, SENT, TAKEN
    )


def test_without_answers_that_travel_the_same_elections_leave_nobody_behind():
    model = model_of(bounds=SAME_LEADER, **{"min.insync.replicas": "2"}, **SESSIONS)
    assert judge(model).verdict is Verdict.EXHAUSTED


DELETES = BOUNDS | {"record_deletions": 1}
KEPT = {"epoch.cache": "kept", "min.insync.replicas": "2"}


@pytest.mark.slow
def test_a_follower_that_has_truncated_keeps_what_its_leader_has_deleted():
    assert judge(model_of(bounds=DELETES, **KEPT, **SESSIONS), STARTS).verdict is Verdict.VIOLATED


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{}, SESSIONS | REPEATS], ids=["all is said", "said again"])
def test_a_follower_that_is_told_where_the_log_starts_deletes_too(settings):
    assert judge(model_of(bounds=DELETES, **KEPT, **settings), STARTS).verdict is Verdict.EXHAUSTED


BACK = (
    "producer_send(leader=b0)",
    "follower_fetch_record(follower=b1, leader=b0)",
    "leader_handle_fetch(leader=b0, follower=b1)",
    "follower_fetch_high_watermark(follower=b1, leader=b0)",
    "producer_send(leader=b0)",
    "broker_crash(broker=b0, checkpoint=1)",
    "controller_fence_leader(broker=b0, successor=b1)",
    "broker_restart(broker=b0)",
    "leader_apply_metadata(broker=b1)",
    "controller_unfence_broker(broker=b0)",
)
DELETED = "broker_delete_records(broker=b1, start=1)"
TRUNCATED = "follower_truncate_on_fetch(follower=b0, leader=b1)"


@pytest.mark.parametrize("steps", [(DELETED, TRUNCATED), (TRUNCATED, DELETED)])
def test_a_later_log_start_is_news_though_the_high_watermark_is_not(steps):
    model = model_of(bounds=DELETES, **KEPT, **SESSIONS)
    (learns,) = steps_named(model, ["follower_fetch_log_start(follower=b0, leader=b1)"])
    learned = ReferenceEngine(model).step(after(model, *BACK, *steps), learns)
    assert (learned is not None) is (steps[-1] == DELETED)


def test_it_is_promised_where_there_are_sessions():
    prop = choose_liveness(KAFKA, NAME)
    assert not prop.promised(model_of())
    assert prop.promised(model_of(**SESSIONS))
    starts = choose_liveness(KAFKA, STARTS)
    assert not starts.promised(model_of(**SESSIONS))
    assert starts.promised(model_of(bounds=DELETES, **KEPT, **SESSIONS))
