"""Truncation that no disk may have: what comes back, under which epochs, and when it cannot."""

from __future__ import annotations

import pytest

from checker.core.verdict import Verdict
from tests.support.kafka import SAFE, after, depths, explored, goes, kafka_model, reachable
from tests.support.tiers import nightly, slow_but

UNSYNCED = {"log.file": "unsynced"}
KEPT = {"epoch.cache": "kept"}
FLUSHED = {"log.flush.interval.messages": "1"}
BOUNDS = {"power_losses": 1, "preferred_elections": 2, "max_records": 2}
LOST = "acknowledged_records_survive"
UNDONE = "broker_lose_power_and_truncation(broker=b0, kept=1, checkpoint=0)"

TRUNCATES = (
    "producer_send(leader=b0)",
    "controller_elect_preferred_leader(broker=b1)",
    "leader_apply_metadata(broker=b1)",
    "producer_send(leader=b1)",
    "follower_apply_metadata(broker=b0)",
    "follower_truncate_on_fetch(follower=b0, leader=b1)",
)
APPENDS = (*TRUNCATES, "follower_fetch_record(follower=b0, leader=b1)")
FOLLOWS_ANOTHER = (
    "controller_elect_preferred_leader(broker=b2)",
    "leader_apply_metadata(broker=b2)",
    "producer_send(leader=b2)",
    "follower_apply_metadata(broker=b0)",
)
TRUNCATES_AGAIN = "follower_truncate_on_fetch(follower=b0, leader=b2)"


def unsynced(settings=None, **bounds):
    return kafka_model("kafka-fixed", SAFE | UNSYNCED | (settings or {}), **(BOUNDS | bounds))


def values(model, state, variable, broker):
    """The numbers of a variable of one broker, by offset."""
    cells = [c for c in model.cells if c.variable.name == variable]
    at = 1 if variable.startswith("epoch_starts") else 0
    return [state[c.position] for c in cells if c.index[at] == broker]


def entries(model, state, log="log"):
    """Id and epoch of each entry of the first broker's log."""
    (end,) = values(model, state, f"brokers.{log}.end", 0)
    ids, epochs = (values(model, state, f"brokers.{log}.{part}", 0) for part in ("id", "epoch"))
    return list(zip(ids, epochs, strict=True))[:end]


def cached(model, state):
    """The epochs that start at offsets 0, 1, ... by the first broker's cache; -1 for none."""
    return values(model, state, "epoch_starts.cached", 0)


def kept_before(model, *steps):
    return entries(model, after(model, *steps), "log_before")


def test_what_was_truncated_comes_back():
    model = unsynced()
    assert entries(model, after(model, *TRUNCATES)) == []
    assert entries(model, after(model, *TRUNCATES, UNDONE)) == [(0, 0)]
    assert entries(model, after(model, *APPENDS)) == [(1, 1)]
    assert entries(model, after(model, *APPENDS, UNDONE)) == [(0, 0)]


@pytest.mark.parametrize("settings", [{}, KEPT], ids=["log", "kept"])
def test_what_is_the_same_as_was_left_needs_no_truncation_undone(settings):
    model = unsynced(settings, log_size=2)
    none = "broker_lose_power_and_truncation(broker=b0, kept=0, checkpoint=0)"
    assert goes(model, *APPENDS, UNDONE)
    assert not goes(model, *APPENDS, none)
    assert not goes(model, UNDONE)


@pytest.mark.slow
def test_a_file_that_knows_a_later_epoch_keeps_it_for_the_old_record():
    model = unsynced(KEPT)
    assert cached(model, after(model, *APPENDS, UNDONE)) == [1, -1]
    fixed = unsynced(KEPT | {"recovery.replaces.epochs": "true"})
    assert cached(fixed, after(fixed, *APPENDS, UNDONE)) == [0, -1]


@pytest.mark.slow
@pytest.mark.parametrize("file", ["at_once", "later"])
def test_a_file_that_knows_no_later_epoch_gets_that_of_the_old_record(file):
    model = unsynced(KEPT | {"epoch.file": file})
    assert cached(model, after(model, *TRUNCATES, UNDONE)) == [0, -1]


@pytest.mark.slow
def test_an_epoch_that_is_later_but_beyond_what_is_left_keeps_the_records_from_the_file():
    model = unsynced(KEPT, log_size=2, max_records=4)
    steps = (
        "producer_send(leader=b0)",
        "follower_fetch_record(follower=b1, leader=b0)",
        *APPENDS,
    )
    lost = "broker_lose_power_and_truncation(broker=b0, kept=2, checkpoint=0)"
    state = after(model, *steps, lost)
    assert entries(model, state) == [(0, 0), (1, 0)]
    assert cached(model, state) == [0, 1, -1]


def test_an_append_is_synced_with_the_truncation_before_it_if_each_record_is_flushed():
    assert kept_before(unsynced(), *APPENDS) == [(0, 0)]
    assert kept_before(unsynced(FLUSHED), *TRUNCATES) == [(0, 0)]
    assert kept_before(unsynced(FLUSHED), *APPENDS) == []


@pytest.mark.slow
def test_the_epoch_of_a_record_is_synced_before_the_record():
    lost = "follower_lose_power_appending(follower=b0, leader=b1, kept=1, checkpoint=0)"
    model = unsynced(FLUSHED | KEPT)
    state = after(model, *TRUNCATES, lost)
    assert entries(model, state) == [(0, 0)]
    assert cached(model, state) == [1, -1]
    assert not goes(unsynced(KEPT), *TRUNCATES, lost)


def test_it_is_so_of_a_record_whose_answer_travels():
    model = unsynced(FLUSHED | KEPT | {"fetch.answers": "in_flight"})
    steps = (
        *TRUNCATES[:-1],
        "follower_send_fetch(follower=b0, leader=b1)",
        "follower_receive_divergence(follower=b0)",
        "follower_send_fetch(follower=b0, leader=b1)",
        "follower_lose_power_receiving(follower=b0, kept=1, checkpoint=0)",
    )
    state = after(model, *steps)
    assert entries(model, state) == [(0, 0)]
    assert cached(model, state) == [1, -1]


def test_of_two_truncations_the_first_comes_back_unless_it_was_synced():
    model = unsynced(max_records=3)
    twice = (*APPENDS, *FOLLOWS_ANOTHER, TRUNCATES_AGAIN)
    assert kept_before(model, *twice) == [(0, 0)]
    synced = (*APPENDS, *FOLLOWS_ANOTHER, "broker_sync_truncation(broker=b0)", TRUNCATES_AGAIN)
    assert kept_before(model, *synced) == [(1, 1)]


def test_a_crash_keeps_what_a_clean_stop_syncs():
    model = unsynced(crashes=1, shutdowns=1)
    assert kept_before(model, *APPENDS, "broker_crash(broker=b0, checkpoint=0)") == [(0, 0)]
    assert kept_before(model, *APPENDS, "broker_shut_down(broker=b0)") == []


def test_after_the_last_power_loss_nothing_is_kept():
    lost = "broker_lose_power(broker=b2, kept=0, checkpoint=0)"
    assert kept_before(unsynced(), *APPENDS, lost) == []
    assert kept_before(unsynced(power_losses=2), *APPENDS, lost) == [(0, 0)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    slow_but([FLUSHED | KEPT], [{}, KEPT, FLUSHED | KEPT]),
    ids=["log", "kept", "flushed"],
)
def test_without_power_losses_there_is_nothing_new(settings):
    bounds = BOUNDS | {"power_losses": 0, "preferred_elections": 1, "crashes": 1, "replicas": 2}
    fine = kafka_model("kafka-4.3", SAFE | settings | UNSYNCED, **bounds)
    coarse = kafka_model("kafka-4.3", SAFE | settings, **bounds)
    results = [explored(model, symmetry=True) for model in (fine, coarse)]
    assert results[0].levels == results[1].levels
    assert results[0].transitions == results[1].transitions


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings", slow_but([KEPT], [{}, KEPT, FLUSHED | KEPT]), ids=["log", "kept", "flushed"]
)
def test_what_may_be_with_synced_truncation_may_be_without(settings):
    bounds = BOUNDS | {"replicas": 2, "preferred_elections": 1}
    fine = kafka_model("kafka-4.3", SAFE | settings | UNSYNCED, **bounds)
    coarse = kafka_model("kafka-4.3", SAFE | settings, **bounds)
    more, _ = reachable(fine, "log_before")
    fewer, _ = reachable(coarse, "log_before")
    assert fewer < more


@pytest.mark.slow
@pytest.mark.parametrize(
    ("flush", "depth"), [nightly("another flush of the same loss", ("0", 19)), ("1", 18)]
)
def test_an_acknowledged_record_is_lost_by_epochs_that_were_synced_without_their_records(
    flush, depth
):
    settings = KEPT | {"log.flush.interval.messages": flush}
    assert depths(explored(unsynced(settings), LOST, symmetry=True)) == {LOST: depth}
    fixed = unsynced(settings | {"recovery.replaces.epochs": "true"})
    assert explored(fixed, LOST, symmetry=True).verdict is Verdict.EXHAUSTED
    truthful = unsynced({"log.flush.interval.messages": flush})
    assert explored(truthful, LOST, symmetry=True).verdict is Verdict.EXHAUSTED


@pytest.mark.slow
def test_a_high_watermark_of_later_may_be_above_a_record_that_came_back():
    """Until the follower has fetched, and truncates again; with each record flushed it is not."""
    differ = "logs_agree_below_high_watermark"
    assert depths(explored(unsynced(), differ, symmetry=True)) == {differ: 14}
    assert explored(unsynced(FLUSHED), differ, symmetry=True).verdict is Verdict.EXHAUSTED
