"""The leader-epoch cache as state: what each fix prevents, and what its file leaves."""

from __future__ import annotations

import pytest

from checker.core.engines.reference import ReferenceEngine
from checker.core.liveness.search import LivenessSearch
from checker.core.search.question import Options
from checker.core.verdict import Verdict
from properties import choose_liveness, choose_properties
from tests.support.epoch_runs import LOADED, START_MOVED, TWO_LOGS, late_model, written
from tests.support.kafka import SAFE, after, depths, explored, kafka_model

LOST = "exposed_records_survive"
IN_VAIN = "followers_are_told_where_to_truncate"
KEPT = {"epoch.cache": "kept"}
LOOKUPS = KEPT | {"fetch.answers": "at_once", "reset.follower.leo.every.epoch": "true"}
CHANGES = {"replicas": 2, "log_size": 2, "max_records": 2, "preferred_elections": 3}
SWAP = {"replicas": 2, "preferred_elections": 2, "directory_moves": 1, "max_leader_epoch": 3}
SWAPPED = (
    "operator_move_log(broker=b1)",
    "future_replica_fetch(broker=b1)",
    "future_replica_replace(broker=b1)",
)
LIVENESS = ["truncation_ends", "live_followers_are_in_sync_again"]


def fixed(bounds, **settings):
    """The model with every fix and caches of its own, but for some."""
    changed = {name.replace("_", "."): value for name, value in settings.items()}
    return kafka_model("kafka-fixed", SAFE | KEPT | changed, **bounds)


def starts(model, state, broker, variable="cached"):
    """The epochs that start at offsets 0, 1, ... by one broker's cache; -1 for none."""
    name = f"epoch_starts.{variable}"
    cells = [c for c in model.cells if c.variable.name == name and c.index[1] == broker]
    return [state[c.position] for c in sorted(cells, key=lambda c: c.index[0])]


def lasting(model, name):
    """The verdict on a liveness property, under the fairness of the protocol."""
    protocol, options = model.protocol, Options(cross_check=False)
    wanted = (choose_liveness(protocol, name),)
    search = LivenessSearch(model, (), wanted, protocol.fairness, options=options)
    (judgement,) = search.run().liveness
    return judgement.verdict


BECOMES_LEADER = (
    "producer_send(leader=b0)",
    "follower_fetch_record(follower=b1, leader=b0)",
    "controller_elect_preferred_leader(broker=b1)",
    "leader_apply_metadata(broker=b1)",
)
FOLLOWS_AGAIN = (
    *BECOMES_LEADER,
    "controller_elect_preferred_leader(broker=b0)",
    "leader_apply_metadata(broker=b0)",
    "follower_apply_metadata(broker=b1)",
    "follower_truncate_on_fetch(follower=b1, leader=b0)",
)
TWO = {"replicas": 2, "preferred_elections": 2}


def test_a_leader_enters_its_epoch_where_its_log_ends():
    model = fixed(TWO)
    state = after(model, *BECOMES_LEADER)
    assert starts(model, state, 0) == [0, -1]
    assert starts(model, state, 1) == [0, 1]


@pytest.mark.slow
def test_truncation_takes_an_epoch_without_records_out_and_the_file_follows_later():
    model = fixed(TWO)
    state = after(model, *FOLLOWS_AGAIN)
    assert starts(model, state, 1) == [0, -1]
    assert starts(model, state, 1, "in_file") == [0, 1]
    state = after(model, *FOLLOWS_AGAIN, "broker_flush_epochs(broker=b1)")
    assert starts(model, state, 1, "in_file") == [-1, -1]


def test_a_restart_forgets_an_epoch_without_records():
    model = fixed(TWO | {"crashes": 1})
    state = after(model, *BECOMES_LEADER, "broker_crash(broker=b1, checkpoint=0)")
    assert starts(model, state, 1) == [0, -1]


@pytest.mark.parametrize(
    ("lines", "before", "back", "gone"),
    [
        (LOADED, 9, [0, 1, -1], [0, -1, -1]),
        (TWO_LOGS[:16], 13, [0, 1, -1], [0, -1, -1]),
        (START_MOVED, 7, [0, -1, -1], [-1, -1, -1]),
    ],
    ids=["loaded", "loaded without its end", "start moved"],
)
def test_what_goes_from_the_cache_is_back_after_a_crash_unless_the_file_was_written(
    lines, before, back, gone
):
    model = late_model()
    assert starts(model, after(model, *lines), 1) == back
    assert starts(model, after(model, *written(lines, before)), 1) == gone


def test_a_start_that_is_on_disk_leaves_the_file_nothing_to_bring_back():
    """A load drops what is before it, whether it is in the file or not."""
    model = late_model()
    moved = START_MOVED[:-1]
    assert starts(model, after(model, *moved), 1, "in_file") == [0, -1, -1]
    state = after(model, *moved, "broker_checkpoint_log_start(broker=b1)")
    assert starts(model, state, 1) == [-1, 0, -1]
    assert starts(model, state, 1, "in_file") == [-1, -1, -1]


def test_what_a_load_leaves_in_the_file_is_dead_where_none_comes_after():
    led = (*BECOMES_LEADER, "broker_crash(broker=b1, checkpoint=0)")
    once, twice = (fixed(TWO | {"crashes": crashes}) for crashes in (1, 2))
    assert starts(once, after(once, *led), 1, "in_file") == [-1, -1]
    assert starts(twice, after(twice, *led), 1, "in_file") == [0, 1]


def test_a_file_that_is_late_after_a_power_loss_leaves_two_logs():
    model = late_model()
    state = after(model, *TWO_LOGS)
    (agree,) = choose_properties(model.protocol, ["logs_agree_below_high_watermark"])
    assert not ReferenceEngine(model).holds(agree.claim, state)


def test_what_a_crash_leaves_unsynced_a_later_power_loss_may_take():
    model = fixed(TWO | {"crashes": 1, "power_losses": 1}, epoch_file="unsynced")
    crashed = (*FOLLOWS_AGAIN, "broker_crash(broker=b1, checkpoint=0)")
    assert starts(model, after(model, *crashed), 1) == [0, -1]
    assert starts(model, after(model, *crashed), 1, "in_file") == [0, 1]


@pytest.mark.slow
def test_what_an_earlier_release_left_unsynced_is_not_what_a_later_one_left_unwritten():
    bounds = TWO | {"crashes": 2, "upgrades": 1}
    settings = SAFE | KEPT | {"upgrade.to": "kafka-3.9", "fetch.answers": "at_once"}
    model = kafka_model("kafka-3.7", settings, **bounds)
    crashed = (*FOLLOWS_AGAIN, "broker_crash(broker=b1, checkpoint=0)")
    assert starts(model, after(model, *crashed), 1, "in_file") == [0, 1]
    state = after(model, *crashed, "broker_upgrade(broker=b1)")
    assert starts(model, state, 1, "in_file") == [-1, -1]


def test_a_file_that_was_not_synced_may_be_empty():
    model = fixed(TWO | {"power_losses": 1}, epoch_file="unsynced")
    lost = "broker_lose_power_and_epochs(broker=b1, kept=1, checkpoint=0, first=%d)"
    assert starts(model, after(model, *FOLLOWS_AGAIN, lost % 1), 1) == [-1, -1]
    assert starts(model, after(model, *FOLLOWS_AGAIN, lost % 0), 1) == [0, -1]


def test_a_swapped_log_has_the_epochs_of_its_records():
    model = fixed(TWO | {"directory_moves": 1}, swapped_log_keeps_epochs="false")
    state = after(model, *BECOMES_LEADER, *SWAPPED)
    assert starts(model, state, 1) == [0, -1]


@pytest.mark.slow
def test_a_lookup_of_an_epoch_without_records_goes_round_until_truncation_clears_it():
    off = kafka_model("kafka-2.1", LOOKUPS, **CHANGES, max_leader_epoch=3)
    assert depths(explored(off, IN_VAIN)) == {IN_VAIN: 9}
    settings = LOOKUPS | {"truncation.at.end.clears.epochs": "true"}
    on = kafka_model("kafka-2.1", settings, **CHANGES, max_leader_epoch=3)
    assert explored(on, IN_VAIN).verdict is Verdict.EXHAUSTED


@pytest.mark.slow
def test_a_follower_of_a_swapped_log_goes_round_unless_the_copy_takes_the_cache_over():
    off = fixed(SWAP, swapped_log_keeps_epochs="false")
    assert depths(explored(off, IN_VAIN)) == {IN_VAIN: 5}
    assert explored(fixed(SWAP), IN_VAIN).verdict is Verdict.EXHAUSTED


@pytest.mark.slow
@pytest.mark.parametrize(
    ("off", "on", "names"),
    [
        (
            kafka_model("kafka-2.1", LOOKUPS, **CHANGES, max_leader_epoch=3),
            kafka_model(
                "kafka-2.1",
                LOOKUPS | {"truncation.at.end.clears.epochs": "true"},
                **CHANGES,
                max_leader_epoch=3,
            ),
            ["truncation_ends"],
        ),
        (
            fixed(SWAP, swapped_log_keeps_epochs="false", min_insync_replicas="1"),
            fixed(SWAP, min_insync_replicas="1"),
            LIVENESS,
        ),
    ],
    ids=["lookup", "swap"],
)
def test_the_fetch_loops_are_runs_for_ever(off, on, names):
    assert {lasting(off, name) for name in names} == {Verdict.VIOLATED}
    assert {lasting(on, name) for name in names} == {Verdict.EXHAUSTED}


@pytest.mark.slow
def test_a_leader_without_its_own_epoch_makes_a_follower_lose_what_is_committed():
    bounds = {"log_size": 2, "max_records": 2, "preferred_elections": 2, "crashes": 1}
    settings = SAFE | LOOKUPS | {"quick.bounce": "refused"}
    off = settings | {"leader.enters.epoch": "false"}
    broken = kafka_model("kafka-2.1", off, **bounds, max_leader_epoch=3)
    assert depths(explored(broken, LOST, symmetry=True)) == {LOST: 14}
    mended = kafka_model("kafka-2.1", settings, **bounds, max_leader_epoch=3)
    assert explored(mended, LOST, symmetry=True).verdict is Verdict.EXHAUSTED


@pytest.mark.slow
def test_with_every_fix_the_cache_as_state_adds_nothing():
    bounds = {"crashes": 1, "preferred_elections": 1, "max_leader_epoch": 3}
    assert explored(fixed(bounds), symmetry=True).verdict is Verdict.EXHAUSTED
