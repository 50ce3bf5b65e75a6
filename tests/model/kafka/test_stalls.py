"""Threads that stall between two locks: what may happen meanwhile, and what each fix prevents."""

from __future__ import annotations

import pytest

from checker.core.engines.reference import ReferenceEngine
from checker.core.verdict import Verdict
from checker.lab.experiments.choices import steps_named
from model.replicated_log import NO_EPOCH
from tests.support.kafka import SAFE, after, depths, explored, kafka_model, reachable
from tests.support.tiers import first_and_slow

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


@pytest.mark.slow
def test_a_truncation_that_was_decided_in_an_earlier_epoch_loses_what_was_acknowledged():
    model = fixed(TRUNCATIONS, truncation_matches_request_epoch="false")
    assert depths(explored(model, LOST, symmetry=True)) == {LOST: 18}


@pytest.mark.slow
def test_it_takes_the_thread_back_to_the_leader_that_answered():
    model = fixed(
        TRUNCATIONS | {"preferred_elections": 3, "max_leader_epoch": 3},
        truncation_matches_request_epoch="false",
    )
    assert explored(model, LOST, symmetry=True).verdict is Verdict.EXHAUSTED


@pytest.mark.slow
def test_a_produce_that_is_judged_by_the_offset_hears_of_a_record_that_is_gone():
    model = fixed(PRODUCES | {"max_records": 2}, produce_matches_leader_epoch="false")
    assert depths(explored(model, LOST, symmetry=True)) == {LOST: 14}


@pytest.mark.slow
def test_with_one_record_there_is_none_in_its_place():
    model = fixed(PRODUCES, produce_matches_leader_epoch="false")
    assert explored(model, LOST, symmetry=True).verdict is Verdict.EXHAUSTED


CHECKS = {"stalled_checks": 1, "preferred_elections": 1, "max_leader_epoch": 1, "max_records": 2}
ON_NO_DISK = "acknowledged_record_on_some_disk"


@pytest.mark.slow
def test_a_check_in_two_parts_hears_of_a_record_that_is_gone():
    """With one election, where a stall before the check takes two."""
    model = fixed(CHECKS, produce_matches_leader_epoch="false")
    assert depths(explored(model, LOST, symmetry=True)) == {LOST: 12}
    assert explored(fixed(CHECKS), LOST, symmetry=True).verdict is Verdict.EXHAUSTED


def test_a_check_in_two_parts_is_not_answered_by_another_thread():
    steps = (
        "leader_stall_in_check(leader=b0)",
        "follower_fetch_record(follower=b1, leader=b0)",
        "follower_fetch_record(follower=b2, leader=b0)",
        "leader_handle_fetch(leader=b0, follower=b1)",
        "leader_handle_fetch(leader=b0, follower=b2)",
        "leader_answer_stalled_check(leader=b0)",
    )
    model = fixed(CHECKS)
    (told,) = (c.position for c in model.cells if c.name == "records.acknowledged[0]")
    assert [after(model, *steps[:taken])[told] for taken in (5, 6)] == [0, 1]


@pytest.mark.parametrize("frozen", first_and_slow(False, True))
def test_the_isr_is_counted_before_it_shrinks(frozen):
    """Before 3.7 the high watermark moves by the smaller one (26)."""
    bounds = {"stalled_checks": 1, "power_losses": 1, "max_leader_epoch": 0}
    chosen = SAFE | {"hw.frozen.below.min.isr": str(frozen).lower()}
    found = explored(kafka_model("kafka-3.6", chosen, **bounds), ON_NO_DISK, symmetry=True)
    assert depths(found) == ({} if frozen else {ON_NO_DISK: 6})


@pytest.mark.slow
def test_up_to_2_6_a_thread_that_found_no_epoch_truncates_to_the_high_watermark():
    chosen = SAFE | {"fetch.answers": "at_once", "reset.follower.leo.every.epoch": "true"}
    bounds = {"stalled_truncations": 1, "preferred_elections": 3, "max_leader_epoch": 3}
    model = kafka_model("kafka-2.1", chosen, **bounds)
    assert depths(explored(model, LOST, symmetry=True)) == {LOST: 15}
    with_fix = chosen | {"truncation.matches.request.epoch": "true"}
    model = kafka_model("kafka-2.1", with_fix, **bounds)
    assert explored(model, LOST, symmetry=True).verdict is Verdict.EXHAUSTED


@pytest.mark.parametrize("reads", [False, True])
def test_what_was_scheduled_before_metadata_is_written_at_a_clean_stop(reads):
    """The scheduler ends after the last metadata and before the fetchers (finding 0020)."""
    bounds = {
        "shutdowns": 1, "preferred_elections": 3, "max_leader_epoch": 3, "log_size": 2,
        "max_records": 3,
    }  # fmt: skip
    steps = [
        "producer_send(leader=b0)",
        "producer_send(leader=b0)",
        "follower_fetch_record(follower=b1, leader=b0)",
        "follower_fetch_record(follower=b2, leader=b0)",
        "controller_elect_preferred_leader(broker=b1)",
        "leader_apply_metadata(broker=b1)",
        "producer_send(leader=b1)",
        "follower_apply_metadata(broker=b2)",
        "follower_fetch_record(follower=b2, leader=b1)",
        "controller_elect_preferred_leader(broker=b0)",
        "leader_apply_metadata(broker=b0)",
        "follower_apply_metadata(broker=b2)",
        "follower_truncate_on_fetch(follower=b2, leader=b0)",
        "follower_fetch_record(follower=b2, leader=b0)",
    ]
    if reads:
        steps += [
            "controller_elect_preferred_leader(broker=b1)",
            "follower_apply_metadata(broker=b2)",
        ]
    model = fixed(bounds, epoch_cache="kept")
    state = after(model, *steps, "broker_shut_down(broker=b2)")
    (known,) = (c.position for c in model.cells if c.name == "epoch_starts.cached[1][2]")
    assert state[known] == (NO_EPOCH if reads else 1)


@pytest.mark.slow
def test_where_two_numbers_are_read_apart_a_follower_may_give_up():
    model = reading(log_start_read_first="false")
    assert depths(explored(model, GIVES_UP, symmetry=True)) == {GIVES_UP: 8}


@pytest.mark.slow
def test_not_where_the_start_is_read_first():
    assert explored(reading(), GIVES_UP, symmetry=True).verdict is Verdict.EXHAUSTED


def test_not_with_two_replicas_as_nobody_else_moves_the_high_watermark():
    model = reading({"replicas": 2}, log_start_read_first="false")
    assert explored(model, GIVES_UP).verdict is Verdict.EXHAUSTED


@pytest.mark.slow
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
