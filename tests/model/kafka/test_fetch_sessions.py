"""A follower whose log diverged is told the high watermark again, or never (finding 0015)."""

from __future__ import annotations

import pytest

from checker.experiments.liveness_table import lasso_trace
from checker.liveness.search import LivenessSearch
from checker.search.explore import Explorer
from checker.search.question import Options
from checker.traces.trace import check_trace
from checker.verdict import Verdict
from model.kafka.protocol import KAFKA
from model.kafka.state import NOT_TOLD
from model.language import all_of, any_of, every, not_
from properties import Property, choose_liveness
from properties.kafka import safety

NAME = "followers_learn_the_high_watermark"
BOUNDS = {
    "replicas": 2, "log_size": 2, "max_records": 2, "max_leader_epoch": 1, "crashes": 1,
    "preferred_elections": 0, "unclean_elections": 0,
}  # fmt: skip
SESSIONS = {"fetch.sessions": "true"}
REPEATS = {"session.repeats.diverging.answer": "true"}


def model_of(preset="4.3", bounds=BOUNDS, **settings):
    return KAFKA.model(bounds, dict(KAFKA.preset(f"kafka-{preset}")) | settings)


def judge(model):
    """The judgement on followers that are to learn the high watermark; its trace is checked."""
    prop = choose_liveness(KAFKA, NAME)
    options = Options(cross_check=False)
    search = LivenessSearch(model, (), (prop,), KAFKA.fairness, options=options)
    (judgement,) = search.run().liveness
    trace = lasso_trace(model, judgement)
    if trace is not None:
        check_trace(trace)
    return judgement


TOLD_IN_THIS_EPOCH = Property(
    "what_counts_as_told_is_of_the_leader_epoch",
    "what counts as told is forgotten by who stops, leads or is in another leader epoch",
    lambda p, after: every(
        any_of(
            after.brokers[broker].counted_as_told == NOT_TOLD,
            all_of(
                after.brokers[broker].up,
                not_(after.brokers[broker].leads),
                after.brokers[broker].leader_epoch == broker.leader_epoch,
            ),
        )
        for broker in p.brokers
    ),
    of_steps=True,
)


def states(model):
    return Explorer(model, [safety.high_watermark_within_log]).run().distinct_states


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


def test_what_counts_as_told_is_forgotten_with_the_leader_epoch():
    bounds = BOUNDS | {
        "replicas": 3,
        "max_leader_epoch": 2,
        "preferred_elections": 1,
        "log_size": 1,
    }
    model = model_of(bounds=bounds | {"max_records": 1}, **SESSIONS)
    assert not Explorer(model, [TOLD_IN_THIS_EPOCH]).run().violations


def test_where_answers_may_be_late_sessions_change_nothing():
    assert states(model_of("3.9", **SESSIONS)) == states(model_of("3.9"))


def test_it_is_promised_where_there_are_sessions():
    prop = choose_liveness(KAFKA, NAME)
    assert not prop.promised(model_of())
    assert prop.promised(model_of(**SESSIONS))
