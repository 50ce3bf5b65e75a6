"""What switching tiering off does to logs, to the remote store, and to copies under way."""

from __future__ import annotations

from model.kafka_tiered.protocol import KAFKA_TIERED
from tests.support.kafka import goes, value_after

MODEL = KAFKA_TIERED.model(
    {"brokers": 3, "tiering_disablings": 1, "copies": 2, "crashes": 2},
    KAFKA_TIERED.presets["kafka-4.3"],
)
COPIED = (
    "leader_append(leader=b0)",
    "follower_fetch(follower=b1, leader=b0)",
    "follower_fetch(follower=b2, leader=b0)",
    "leader_raise_high_watermark(leader=b0)",
    "leader_find_remote_end(broker=b0, base=0)",
    "leader_begin_copy(broker=b0, segment=0, end=1)",
)
FINISHED = "leader_finish_copy(broker=b0, segment=0)"
REMOTE = (*COPIED, FINISHED, "broker_delete_local(broker=b1, start=1)")
"""b1 has its record in the remote store alone."""
OFF, ON = "operator_disable_tiering()", "operator_enable_tiering()"


def test_a_copy_under_way_ends_as_tiering_is_switched_off():
    assert goes(MODEL, *COPIED, FINISHED)
    assert not goes(MODEL, *COPIED, OFF, FINISHED)
    assert not goes(MODEL, *COPIED, OFF, ON, FINISHED)


def test_it_is_read_of_after_every_election_before():
    assert not goes(MODEL, *REMOTE, "controller_elect(broker=b1)", OFF)
    heard = (
        "follower_truncate(follower=b0, leader=b1)",
        "follower_truncate(follower=b2, leader=b1)",
    )
    assert goes(MODEL, *REMOTE, "controller_elect(broker=b1)", *heard, OFF)


def test_the_leaders_log_alone_starts_at_its_first_local_record():
    elected = ("controller_elect(broker=b1)", "follower_truncate(follower=b0, leader=b1)")
    led_by_b1 = (*REMOTE, *elected, "follower_truncate(follower=b2, leader=b1)", OFF)
    assert value_after(MODEL, "brokers.log_start[1]", *led_by_b1) == 1
    assert value_after(MODEL, "brokers.log_start[1]", *REMOTE, OFF) == 0


def test_a_log_that_is_loaded_while_tiering_is_off_starts_at_its_first_local_record():
    down = (*REMOTE, "broker_crash(broker=b1)")
    assert value_after(MODEL, "brokers.log_start[1]", *down, "broker_restart(broker=b1)") == 0
    assert value_after(MODEL, "brokers.log_start[1]", *down, OFF, "broker_restart(broker=b1)") == 1


def test_without_a_leader_nothing_is_deleted_and_on_again_it_is_there():
    lost = (*REMOTE, "broker_crash(broker=b0)")
    kept = value_after(MODEL, "segments.copy[0]", *REMOTE)
    assert value_after(MODEL, "segments.copy[0]", *REMOTE, OFF) != kept
    assert value_after(MODEL, "segments.copy[0]", *lost, OFF) == kept


def test_nothing_is_copied_deleted_or_read_remotely_while_tiering_is_off():
    lost = (*REMOTE, "broker_crash(broker=b0)", OFF, "controller_elect(broker=b1)")
    looks = "leader_find_remote_end(broker=b1, base=1)"
    assert not goes(MODEL, *lost, looks)
    heard = "follower_truncate(follower=b2, leader=b1)"
    assert goes(MODEL, *lost, heard, ON, looks)
    assert not goes(MODEL, *COPIED, FINISHED, OFF, "broker_delete_local(broker=b2, start=1)")
