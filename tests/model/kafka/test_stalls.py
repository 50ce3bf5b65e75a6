"""Threads that stall between two locks: what may happen meanwhile, and what each fix prevents."""

from __future__ import annotations

import pytest

from checker.engines.reference import ReferenceEngine
from checker.experiments.choices import steps_named
from checker.verdict import Verdict
from tests.support.kafka import SAFE, after, depths, explored, kafka_model, reachable

GIVES_UP = "followers_go_on_fetching"
STALL = ("stalled_read.", "spent.")
LOST = "acknowledged_records_survive"
TRUNCATIONS = {"stalled_truncations": 1, "preferred_elections": 4, "max_leader_epoch": 4}
PRODUCES = {"stalled_produces": 1, "preferred_elections": 2, "max_leader_epoch": 3}


def fixed(bounds, **settings):
    """The model with every fix, but for some."""
    changed = {name.replace("_", "."): value for name, value in settings.items()}
    return kafka_model("kafka-fixed", SAFE | changed, **bounds)


def reading(bounds=None, **settings):
    """The same with a leader's reads apart and a deletion."""
    sizes = {"stalled_reads": 1, "record_deletions": 1, "max_leader_epoch": 0} | (bounds or {})
    return fixed(sizes, epoch_cache="kept", **settings)


def test_a_truncation_that_was_decided_in_an_earlier_epoch_loses_what_was_acknowledged():
    model = fixed(TRUNCATIONS, truncation_matches_request_epoch="false")
    assert depths(explored(model, LOST, symmetry=True)) == {LOST: 18}


def test_it_takes_the_thread_back_to_the_leader_that_answered():
    model = fixed(
        TRUNCATIONS | {"preferred_elections": 3, "max_leader_epoch": 3},
        truncation_matches_request_epoch="false",
    )
    assert explored(model, LOST, symmetry=True).verdict is Verdict.EXHAUSTED


def test_a_produce_that_is_judged_by_the_offset_hears_of_a_record_that_is_gone():
    model = fixed(PRODUCES | {"max_records": 2}, produce_matches_leader_epoch="false")
    assert depths(explored(model, LOST, symmetry=True)) == {LOST: 14}


def test_with_one_record_there_is_none_in_its_place():
    model = fixed(PRODUCES, produce_matches_leader_epoch="false")
    assert explored(model, LOST, symmetry=True).verdict is Verdict.EXHAUSTED


def test_where_two_numbers_are_read_apart_a_follower_may_give_up():
    model = reading(log_start_read_first="false")
    assert depths(explored(model, GIVES_UP, symmetry=True)) == {GIVES_UP: 8}


def test_not_where_the_start_is_read_first():
    assert explored(reading(), GIVES_UP, symmetry=True).verdict is Verdict.EXHAUSTED


def test_not_with_two_replicas_as_nobody_else_moves_the_high_watermark():
    model = reading({"replicas": 2}, log_start_read_first="false")
    assert explored(model, GIVES_UP).verdict is Verdict.EXHAUSTED


def test_a_stall_without_deletions_shows_nothing_new():
    bounds = {"replicas": 2, "preferred_elections": 1, "max_leader_epoch": 2, "crashes": 1}
    without, _ = reachable(fixed(bounds), *STALL)
    with_stalls, states = reachable(fixed(bounds | {"stalled_reads": 1}), *STALL)
    assert with_stalls == without
    assert states > len(without)


def test_a_stalled_fetch_lets_nobody_join_below_the_leaders_log_start():
    """The fix of finding 0012, where the thread that asks has stalled."""
    bounds = {"log_size": 2, "max_records": 2, "max_leader_epoch": 3, "crashes": 1}
    steps = (
        "producer_send(leader=b0)",
        "broker_crash(broker=b0, checkpoint=0)",
        "controller_fence_leader(broker=b0, successor=b1)",
        "leader_apply_metadata(broker=b1)",
        "producer_send(leader=b1)",
        "leader_propose_shrink(leader=b1, follower=b2)",
        "controller_apply_isr_change()",
        "follower_apply_metadata(broker=b2)",
        "follower_fetch_record(follower=b2, leader=b1)",
        "leader_handle_fetch(leader=b1, follower=b2)",
        "leader_apply_metadata(broker=b1)",
        "broker_restart(broker=b0)",
        "controller_unfence_broker(broker=b0)",
        "broker_delete_records(broker=b1, start=1)",
        "leader_stall_before_noting(leader=b1, follower=b0)",
    )
    join = "leader_expand_by_stalled_fetch(leader=b1, follower=b0)"

    def joins(**settings):
        chosen = {"epoch_cache": "kept", "eligible_leader_replicas": "false", **settings}
        model = fixed(bounds | {"stalled_fetches": 1, "record_deletions": 1}, **chosen)
        engine = ReferenceEngine(model)
        (step,) = steps_named(model, [join])
        return engine.step(after(model, *steps), step) is not None

    assert joins(isr_join_checks_log_start="false")
    assert not joins()


@pytest.mark.slow
@pytest.mark.parametrize("bounds", [TRUNCATIONS, PRODUCES | {"max_records": 2}])
def test_with_the_fixes_all_that_is_promised_holds(bounds):
    assert explored(fixed(bounds), symmetry=True).verdict is Verdict.EXHAUSTED
