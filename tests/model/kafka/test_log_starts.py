"""Where logs start: what deletions take with them, what followers make of it, and each fix."""

from __future__ import annotations

import pytest

from checker.core.engines.reference import ReferenceEngine
from checker.core.verdict import Verdict
from checker.lab.experiments.choices import steps_named
from model.kafka.state import TopicPartition
from model.language import every
from properties.claims import always
from tests.support.kafka import SAFE, after, depths, explored, explored_for, kafka_model
from tests.support.tiers import first_and_slow

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
    "bounds", first_and_slow({"crashes": 1}, {"power_losses": 1}, {"preferred_elections": 1})
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


LATE = {"log_start_file": "later"}
AT_ONCE = {"log_start_file": "at_once"}
LEADER_CRASHES = (*DELETED, "broker_crash(broker=b0, checkpoint=0)")
FOLLOWER_CRASHES = (*TAKEN, "broker_crash(broker=b1, checkpoint=1)")


def starts_after(model, broker, *steps):
    """Where a broker's log starts after these steps: in memory, and on disk."""
    state = held_after(model, *steps)
    return state["brokers.log_start", broker], state["brokers.start_on_disk", broker]


@pytest.mark.parametrize(("broker", "steps"), [(0, LEADER_CRASHES), (1, FOLLOWER_CRASHES)])
def test_a_crash_takes_a_log_back_to_the_start_that_is_on_disk(broker, steps):
    late = fixed(TWO | {"crashes": 1}, **LATE)
    assert starts_after(late, broker, *steps[:-1]) == (1, 0)
    assert starts_after(late, broker, *steps) == (0, 0)


def test_the_record_comes_back_without_its_epoch():
    """The cache had one entry left, at the log's end, where entries go as a log is loaded."""
    late = fixed(TWO | {"crashes": 1, "max_records": 2, "log_size": 2}, **LATE)
    second = (
        "producer_send(leader=b0)",
        "follower_fetch_record(follower=b1, leader=b0)",
        "leader_handle_fetch(leader=b0, follower=b1)",
        "broker_delete_records(broker=b0, start=2)",
        "broker_flush_epochs(broker=b0)",
        "broker_crash(broker=b0, checkpoint=0)",
    )
    state = held_after(late, *COMMITTED, *second)
    assert [state["brokers.log.id", 0, offset] for offset in (0, 1)] == [0, 1]
    assert {state["epoch_starts.cached", offset, 0] for offset in (0, 1, 2)} == {-1}
    kept = held_after(late, *COMMITTED, *second[:-3], LEADER_CRASHES[-2], *second[-2:])
    assert [kept["epoch_starts.cached", offset, 0] for offset in (0, 1, 2)] == [-1, 0, -1]


@pytest.mark.parametrize(
    "written", ["broker_checkpoint_log_start(broker=b1)", "broker_shut_down(broker=b1)"]
)
def test_a_start_is_on_disk_after_the_checkpoint_and_after_a_clean_stop(written):
    late = fixed(TWO | {"crashes": 1, "shutdowns": 1}, **LATE)
    assert starts_after(late, 1, *TAKEN, written) == (1, 1)


def test_a_checkpoint_keeps_the_start_over_a_crash():
    late = fixed(TWO | {"crashes": 1}, **LATE)
    written = (*TAKEN, "broker_checkpoint_log_start(broker=b1)", FOLLOWER_CRASHES[-1])
    assert starts_after(late, 1, *written) == (1, 1)


def test_retention_at_a_follower_has_the_files_at_once():
    learned = (*COMMITTED, "follower_fetch_high_watermark(follower=b1, leader=b0)")
    retained = (*learned, "broker_delete_records(broker=b1, start=1)")
    assert starts_after(fixed(TWO, **LATE), 1, *retained) == (1, 1)


def test_who_starts_anew_has_no_files_from_before():
    assert starts_after(fixed(**LATE), 2, *LEFT_BEHIND) == (1, 1)


@pytest.mark.parametrize("written", [LATE, AT_ONCE])
def test_power_loss_takes_what_a_deletion_has_left_in_the_file(written):
    model = fixed(TWO | {"power_losses": 1}, **written)
    engine = ReferenceEngine(model)
    (loss,) = steps_named(model, ["broker_lose_power(broker=b0, kept=0, checkpoint=0)"])
    assert (engine.step(after(model, *DELETED), loss) is None) is (written is AT_ONCE)


def test_a_rack_without_power_loses_what_its_deletions_have_left_in_files():
    rack = TWO | {"rack_failures": 1}
    late = fixed(rack, broker_rack="together", **LATE)
    state = held_after(late, *TAKEN, "rack_lose_power(broker=b0, kept=0)")
    assert {state["brokers.log.end", broker] for broker in (0, 1)} == {0}


def test_where_checkpoints_are_written_at_once_nothing_is_kept_for_them():
    bounds = TWO | {"crashes": 1}
    assert "brokers.start_on_disk" in fixed(bounds).unchanging
    assert "brokers.start_on_disk" not in fixed(bounds, **LATE).unchanging
    assert fixed(bounds).settings == fixed(bounds, **AT_ONCE).settings


def test_without_a_deletion_late_checkpoints_change_nothing():
    bounds = {"record_deletions": 0, "crashes": 1, "preferred_elections": 1}
    results = [explored(fixed(TWO | bounds, **some)) for some in (AT_ONCE, LATE)]
    assert results[0].levels == results[1].levels
    assert results[0].transitions == results[1].transitions


@pytest.mark.slow
@pytest.mark.parametrize(
    "bounds", first_and_slow({"crashes": 1}, {"power_losses": 1}, {"shutdowns": 1})
)
def test_late_checkpoints_lose_nothing_but_what_is_deleted(bounds):
    model = fixed(TWO | bounds | {"preferred_elections": 1, "max_leader_epoch": 2}, **LATE)
    assert explored(model, symmetry=True).verdict is Verdict.EXHAUSTED


# --- DeleteRecords is answered by what followers have told ---------------------------------------


@always("log_starts_grow", "no log starts earlier than before", of_steps=True)
def log_starts_grow(before: TopicPartition, after: TopicPartition) -> bool:
    """What a follower told in some fetch is no more than where its log starts since then."""
    return every(broker.log_start <= after.brokers[broker].log_start for broker in before.brokers)


@pytest.mark.parametrize("bounds", [{"preferred_elections": 1, "max_leader_epoch": 2}])
def test_what_followers_told_of_their_log_starts_is_no_more_than_is_so(bounds):
    assert steps_found(fixed(TWO | bounds, **LATE)) == {}


def test_but_for_a_crash_that_takes_a_log_back():
    assert steps_found(fixed(TWO | {"crashes": 1}, **LATE)) == {"log_starts_grow": 5}
    assert steps_found(fixed(TWO | {"crashes": 1}, **AT_ONCE)) == {}


def steps_found(model):
    """How deep a log start goes down."""
    return depths(explored_for([log_starts_grow], model))
