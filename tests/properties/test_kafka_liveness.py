"""The broker model's liveness: what comes out at the least sizes, and what mends it."""

from __future__ import annotations

import pytest

from checker.core.search.question import Options
from checker.core.verdict import Judgement, Verdict
from model.kafka.protocol import KAFKA
from properties import liveness_of
from tests.support.judged import judge
from tests.support.tiers import first_and_slow, slow_but

OPTIONS = Options(cross_check=False)
FEW = {"max_leader_epoch": 1, "preferred_elections": 0}


def judged(name: str, preset: str = "4.1", *changes: str, **bounds: int) -> Judgement:
    """The judgement on one property of a preset."""
    return judge(KAFKA.model(FEW | bounds, KAFKA.preset(preset)), name, *changes)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    slow_but(
        ["records_are_acknowledged"],
        ["records_are_acknowledged", "high_watermark_reaches_the_end"],
    ),
)
def test_a_refused_isr_change_stops_the_high_watermark_for_ever(name):
    """Finding 0017: no fairness helps, computing the high watermark anew does."""
    judgement = judged(name)
    assert judgement.verdict is Verdict.VIOLATED
    assert judgement.lasso is not None
    assert judgement.lasso.stem[-1].action.name == "controller_reject_isr_change"
    assert judgement.lasso.loop == ()
    names = [action for one in KAFKA.fairness for action in one.actions]
    assert judged(name, "4.1", *(f"{a}=strong" for a in names)).lasso is not None
    fix = {"refused.isr.change.moves.hw": "true"}
    mended = KAFKA.model(FEW, {**KAFKA.preset("4.1"), **fix})
    assert judge(mended, name).verdict is Verdict.EXHAUSTED
    silent = "leader_hear_isr_refusal=none"
    assert judge(mended, name, silent).verdict is Verdict.VIOLATED


@pytest.mark.slow
def test_the_isr_flaps_for_ever_unless_taking_a_follower_back_is_strongly_fair():
    name = "live_followers_are_in_sync_again"
    judgement = judged(name, crashes=0)
    assert judgement.lasso is not None
    loop = [step.action.name for step in judgement.lasso.loop]
    assert loop.count("leader_propose_shrink") == loop.count("leader_propose_expand") == 1
    strong = "leader_propose_expand=strong"
    assert judged(name, "4.1", strong, crashes=0).verdict is Verdict.EXHAUSTED


@pytest.mark.slow
def test_truncation_ends_only_where_somebody_truncates():
    assert judged("truncation_ends").verdict is Verdict.EXHAUSTED
    none = "follower_truncate_on_fetch=none"
    assert judged("truncation_ends", "4.1", none).verdict is Verdict.VIOLATED


@pytest.mark.parametrize(
    "action", first_and_slow("controller_apply_isr_change", "leader_apply_metadata")
)
def test_isr_changes_are_answered_only_where_somebody_answers(action):
    name = "isr_changes_are_answered"
    assert judged(name, crashes=0).verdict is Verdict.EXHAUSTED
    assert judged(name, "4.1", f"{action}=none", crashes=0).verdict is Verdict.VIOLATED


def test_an_eligible_broker_is_elected_only_where_a_controller_elects():
    name = "an_eligible_broker_is_elected"
    bounds = {"shutdowns": 1, "crashes": 0, "replicas": 1, "max_leader_epoch": 3}
    judgement = judged(name, "4.1", **bounds)
    assert judgement.verdict in (Verdict.EXHAUSTED, Verdict.HELD_UP)
    assert judgement.owed
    none = "controller_unfence_and_elect=none"
    assert judged(name, "4.1", none, **bounds).verdict is Verdict.VIOLATED


def test_every_fair_action_is_one_of_the_protocol_and_no_fault_operator_or_client_is():
    fair = {action for one in KAFKA.fairness for action in one.actions}
    assert fair <= {action.name for action in KAFKA.actions}
    assert not [a for a in fair if a.split("_")[0] in ("operator", "producer", "consumer", "rack")]
    brokers = {a for a in fair if a.startswith("broker_")}
    assert brokers == {"broker_stop_as_asked", "broker_flush_epochs"}
    assert len({prop.name for prop in liveness_of(KAFKA)}) == 8
