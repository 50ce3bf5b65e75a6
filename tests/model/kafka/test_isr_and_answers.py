"""What a leader hears of its ISR change, what it forgets, and what it then waits for."""

from __future__ import annotations

import pytest

from checker.core.engines.reference import ReferenceEngine
from checker.core.traces.trace import build_trace
from checker.core.verdict import Verdict
from checker.lab.experiments.choices import steps_named
from tests.support.kafka import FIX_36, SAFE, depths, explored, kafka_model
from tests.support.tiers import first_and_slow

APART = {"isr.answer.apart": "true"}
LEO = "leader_handle_fetch(leader=b0, follower={})"
DROP_B2 = "leader_propose_shrink(leader=b0, follower=b2)"
ACCEPT = "controller_apply_isr_change()"
HEAR = "leader_hear_isr_answer(leader=b0)"


class Run:
    """What a list of steps leads to: the last state, and the steps that are enabled there."""

    def __init__(self, settings, lines, **bounds):
        model = kafka_model("kafka-4.1", SAFE | settings, **bounds)
        state = build_trace(model, steps_named(model, lines)).states[-1]
        steps = ReferenceEngine(model).successors(state)
        self.enabled = {instance.action.name for instance, _ in steps}
        self.partition = ReferenceEngine(model).view(state)
        self.leader = self.partition.brokers[0]


def test_a_leader_hears_no_acceptance_of_what_the_controller_did_by_itself():
    # The ISR is what the leader asked for, but its request was of an earlier partition epoch.
    fenced = ["producer_send(leader=b0)", DROP_B2, "controller_fence_broker(broker=b2)"]
    assert "leader_hear_isr_answer" not in Run(APART, fenced, false_fencings=1).enabled
    accepted = ["producer_send(leader=b0)", DROP_B2, ACCEPT]
    assert "leader_hear_isr_answer" in Run(APART, accepted).enabled


@pytest.mark.parametrize("overtaken", [False, True])
def test_an_answer_that_was_overtaken_leaves_the_leader_behind(overtaken):
    # b2 crashes, and loses its place in the ELR when it is back: a new epoch with the same ISR.
    change = [
        "broker_crash(broker=b2, checkpoint=0)",
        "controller_fence_broker(broker=b2)",
        "broker_restart(broker=b2)",
    ]
    lines = ["producer_send(leader=b0)", DROP_B2, ACCEPT, *(change if overtaken else []), HEAR]
    run = Run(APART | {"min.insync.replicas": "3"}, lines, crashes=1)
    assert run.leader.isr == run.partition.controller.isr
    assert run.partition.controller.leader_is_current is not overtaken
    assert ("leader_apply_metadata" in run.enabled) is overtaken


@pytest.mark.parametrize("then", [[], ["leader_apply_metadata(broker=b1)"]])
def test_a_leader_that_has_not_read_of_its_successor_hears_the_answer_all_the_same(then):
    # Accepted before the election: the answer has the old leader epoch, and so has the old leader.
    lines = ["producer_send(leader=b0)", DROP_B2, ACCEPT]
    lines += ["controller_elect_preferred_leader(broker=b1)", *then, HEAR]
    run = Run(APART, lines, preferred_elections=1)
    assert run.leader.leads
    assert [run.leader.isr.contains(b) for b in run.partition.brokers] == [True, True, False]
    assert run.partition.controller.leader_is_current is bool(then)
    assert "leader_hear_isr_answer" not in run.enabled


def test_a_leader_that_has_read_of_its_successor_hears_no_answer():
    lines = ["producer_send(leader=b0)", DROP_B2, ACCEPT]
    lines += ["controller_elect_preferred_leader(broker=b1)", "follower_apply_metadata(broker=b0)"]
    assert "leader_hear_isr_answer" not in Run(APART, lines, preferred_elections=1).enabled


FORGOTTEN = [
    "producer_send(leader=b0)",
    "follower_fetch_record(follower=b1, leader=b0)",
    DROP_B2,
    ACCEPT,
    HEAR,
    "leader_propose_expand(leader=b0, follower=b2)",
]
READ = "leader_read_known_image(leader=b0)"


@pytest.mark.parametrize(
    "then",
    [
        [READ],
        ["controller_fail_over()", READ],
        [READ, "controller_fail_over()"],
        ["controller_fail_over()", READ, "controller_fail_over()"],
    ],
    ids=["image", "fail-over and image", "image and fail-over", "fail-overs around the image"],
)
def test_a_request_that_was_lost_is_sent_again_even_if_the_leader_has_forgotten_it(then):
    run = Run(APART, FORGOTTEN + then, controller_failovers=2)
    assert "controller_apply_isr_change" in run.enabled
    assert not any(name.startswith("leader_propose") for name in run.enabled)


NEW_EPOCHS = [
    "controller_elect_preferred_leader(broker=b1)",
    "controller_elect_preferred_leader(broker=b0)",
    "leader_apply_metadata(broker=b0)",
    "follower_apply_metadata(broker=b2)",
]


@pytest.mark.parametrize("empty", [True, False])
def test_a_follower_with_an_empty_log_ignores_an_answer_of_an_earlier_epoch(empty):
    settings = {"fetch.answers": "in_flight", "answer.matches.request.epoch": "false"}
    send = "follower_send_fetch(follower=b2, leader=b0)"
    fetched = ["producer_send(leader=b0)", send, "follower_receive_record(follower=b2)"]
    lines = [*([] if empty else fetched), "producer_send(leader=b0)", send, *NEW_EPOCHS]
    sizes = {"log_size": 2, "max_records": 2, "preferred_elections": 2}
    run = Run(settings, lines, **sizes)
    assert ("follower_receive_record" in run.enabled) is not empty


WAITS = "leader_exposes_what_the_isr_holds"
REFUSED = [
    "leader_propose_shrink(leader=b0, follower=b2)",
    ACCEPT,
    "leader_apply_metadata(broker=b0)",
    "leader_propose_expand(leader=b0, follower=b2)",
    "producer_send(leader=b0)",
    "follower_fetch_record(follower=b1, leader=b0)",
    LEO.format("b1"),
    "controller_fence_broker(broker=b2)",
    "controller_reject_isr_change()",
]


def test_after_a_refusal_the_high_watermark_waits_for_something_else():
    sizes = {"false_fencings": 1, "log_size": 2, "max_records": 2}
    fetch = "follower_fetch_record(follower=b2, leader=b0)"
    for then, expected in (
        ([], 0),
        ([fetch], 0),  # from 0, as before
        ([fetch, LEO.format("b2")], 1),
        (["producer_send(leader=b0)"], 1),
    ):
        assert Run({}, REFUSED + then, **sizes).leader.high_watermark == expected


MOVES = {"refused.isr.change.moves.hw": "true"}
HEARS = "leader_hear_isr_refusal"


def test_with_the_fix_the_leader_that_is_refused_exposes_what_the_isr_holds():
    sizes = {"false_fencings": 1, "log_size": 2, "max_records": 2}
    assert HEARS not in Run({}, REFUSED[:-1], **sizes).enabled
    run = Run(MOVES, REFUSED[:-1], **sizes)
    assert HEARS in run.enabled and "controller_reject_isr_change" not in run.enabled
    assert Run(MOVES, [*REFUSED[:-1], f"{HEARS}(leader=b0)"], **sizes).leader.high_watermark == 1


def test_with_the_fix_a_request_that_the_leader_has_forgotten_is_refused_as_before():
    lines = [*FORGOTTEN, READ, "controller_fence_broker(broker=b2)"]
    run = Run(APART | MOVES, lines, false_fencings=1)
    assert "controller_reject_isr_change" in run.enabled and HEARS not in run.enabled


def test_so_a_record_that_the_whole_isr_holds_may_stay_unexposed():
    bounds = {"false_fencings": 1, "max_leader_epoch": 0}
    assert depths(explored(kafka_model("kafka-4.1", SAFE | FIX_36, **bounds), WAITS)) == {WAITS: 7}
    never_refused = {"isr.unfenced.brokers.only": "false", "broker.epoch.checked": "false"}
    model = kafka_model("kafka-4.1", SAFE | FIX_36 | never_refused, **bounds)
    assert explored(model, WAITS).verdict is Verdict.EXHAUSTED


@pytest.mark.parametrize(
    "bounds",
    first_and_slow(
        {"false_fencings": 1}, {"crashes": 1}, {"shutdowns": 1, "controller_failovers": 1}
    ),
)
def test_with_the_fix_none_does(bounds):
    settings = SAFE | FIX_36 | APART | MOVES
    model = kafka_model("kafka-4.1", settings, **({"max_leader_epoch": 0} | bounds))
    assert explored(model, WAITS).verdict is Verdict.EXHAUSTED
    broken = kafka_model("kafka-4.1", SAFE | FIX_36 | APART, **({"max_leader_epoch": 0} | bounds))
    assert explored(broken, WAITS).verdict is Verdict.VIOLATED
