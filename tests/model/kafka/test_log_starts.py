"""Where logs start: what deletions take with them, what followers make of it, and each fix."""

from __future__ import annotations

import pytest

from checker.engines.reference import ReferenceEngine
from checker.experiments.choices import steps_named
from checker.verdict import Verdict
from tests.support.kafka import SAFE, after, depths, explored, kafka_model

KEPT = {"epoch.cache": "kept"}
DELETES = {"record_deletions": 1, "max_leader_epoch": 1, "crashes": 0, "preferred_elections": 0}
STARTS = "log_starts_within_high_watermarks"
MISSING = "only_what_was_deleted_is_missing"

COMMITTED = (
    "producer_send(leader=b0)",
    "follower_fetch_record(follower=b1, leader=b0)",
    "leader_handle_fetch(leader=b0, follower=b1)",
)
DELETED = (*COMMITTED, "broker_delete_records(broker=b0, start=1)")
TAKEN = (*DELETED, "follower_fetch_high_watermark(follower=b1, leader=b0)")
LEFT_BEHIND = (
    *COMMITTED,
    "leader_propose_shrink(leader=b0, follower=b2)",
    "controller_apply_isr_change()",
    "leader_apply_metadata(broker=b0)",
    "broker_delete_records(broker=b0, start=1)",
    "follower_start_anew(follower=b2, leader=b0)",
)


def fixed(bounds=None, **settings):
    """The model with every fix and caches of its own, but for some."""
    changed = {name.replace("_", "."): value for name, value in settings.items()}
    return kafka_model("kafka-fixed", SAFE | KEPT | changed, **(DELETES | (bounds or {})))


def held_after(model, *steps):
    """What a state holds after these steps: by variable and index."""
    state = after(model, *steps)
    return {(cell.variable.name, *cell.index): state[cell.position] for cell in model.cells}


TWO = {"replicas": 2}


def test_what_is_deleted_is_gone_from_the_log_and_its_epoch_goes_on_at_the_start():
    state = held_after(fixed(TWO), *DELETED)
    assert state["brokers.log_start", 0] == state["brokers.log.end", 0] == 1
    assert (state["brokers.log.id", 0, 0], state["records.deleted", 0]) == (0, 1)
    assert (state["epoch_starts.cached", 0, 0], state["epoch_starts.cached", 1, 0]) == (-1, 0)
    assert state["brokers.log_start", 1] == 0


def test_a_follower_takes_the_log_start_with_the_high_watermark_that_allows_it():
    state = held_after(fixed(TWO), *TAKEN)
    assert state["brokers.log_start", 1] == state["brokers.high_watermark", 1] == 1


def test_nothing_is_deleted_beyond_the_high_watermark():
    model, sent = fixed(TWO), COMMITTED[:1]
    engine = ReferenceEngine(model)
    (step,) = steps_named(model, sent)
    state = engine.step(engine.initial(), step)
    assert state is not None
    (deletion,) = steps_named(model, ("broker_delete_records(broker=b0, start=1)",))
    assert engine.step(state, deletion) is None
    wrong = fixed(TWO, retention_stops_at_hw="false")
    assert depths(explored(wrong, STARTS)) == {STARTS: 2}


def test_a_follower_before_the_leaders_log_start_starts_anew_there():
    state = held_after(fixed(), *LEFT_BEHIND)
    assert state["brokers.log_start", 2] == state["brokers.log.end", 2] == 1
    assert state["brokers.high_watermark", 2] == 1
    before = held_after(fixed(starting_anew_moves_hw="false"), *LEFT_BEHIND)
    assert before["brokers.high_watermark", 2] == 0


def test_a_log_start_is_kept_over_a_crash_and_so_is_a_high_watermark_there():
    crashed = (*DELETED, "broker_crash(broker=b0, checkpoint=0)")
    state = held_after(fixed(TWO | {"crashes": 1}), *crashed)
    assert state["brokers.log_start", 0] == state["brokers.high_watermark", 0] == 1


@pytest.mark.parametrize(
    "bounds", [{}, {"crashes": 1}, {"power_losses": 1}, {"preferred_elections": 1}]
)
def test_deletions_lose_nothing_but_what_is_deleted(bounds):
    model = fixed(TWO | bounds)
    assert explored(model, symmetry=True).verdict is Verdict.EXHAUSTED


def test_without_a_deletion_no_log_starts_later():
    """With the budget at 0 the variables are constants, so that no count is another."""
    model = fixed({"record_deletions": 0})
    assert {"brokers.log_start", "records.deleted"} <= model.unchanging.keys()


@pytest.mark.slow
def test_a_follower_that_nobody_compared_below_the_log_start_leads():
    bounds = {"log_size": 2, "max_records": 2, "preferred_elections": 1, "max_leader_epoch": 2}
    model = fixed(bounds | {"crashes": 1}, isr_join_checks_log_start="false")
    differing = "consumers_agree"
    assert depths(explored(model, differing, symmetry=True)) == {differing: 21}
