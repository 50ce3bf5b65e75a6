"""A replica's move to another log directory: when its copy hears of a truncation (finding 0029)."""

from __future__ import annotations

import pytest

from tests.support.kafka import after, kafka_model

BOUNDS = {
    "replicas": 2, "log_size": 2, "max_records": 3, "max_leader_epoch": 3, "crashes": 1,
    "shutdowns": 1, "false_fencings": 2, "preferred_elections": 1, "directory_moves": 1,
    "lost_directories": 1,
}  # fmt: skip
OFF = {"eligible.leader.replicas": "false", "every.truncation.marks.future.replica": "false"}
COPIED = (
    "producer_send(leader=b0)",
    "follower_fetch_record(follower=b1, leader=b0)",
    "controller_fence_leader(broker=b0, successor=b1)",
    "leader_apply_metadata(broker=b1)",
    "follower_apply_metadata(broker=b0)",
    "leader_propose_expand(leader=b1, follower=b0)",
    "producer_send(leader=b1)",
    "controller_unfence_broker(broker=b0)",
    "controller_apply_isr_change()",
    "controller_elect_preferred_leader(broker=b0)",
    "leader_apply_metadata(broker=b0)",
    "producer_send(leader=b0)",
    "controller_fence_leader(broker=b0, successor=b1)",
    "leader_apply_metadata(broker=b1)",
    "follower_apply_metadata(broker=b0)",
    "operator_move_log(broker=b0)",
    "future_replica_fetch(broker=b0)",
    "future_replica_fetch(broker=b0)",
)
"""Broker 0 has a record of epoch 2 where broker 1, which leads, has one of epoch 1."""
TRUNCATED = (*COPIED, "follower_truncate_on_fetch(follower=b0, leader=b1)")
HELD = (
    "producer_send(leader=b0)",
    "follower_fetch_record(follower=b1, leader=b0)",
    "leader_handle_fetch(leader=b0, follower=b1)",
    "producer_send(leader=b0)",
    "operator_move_log(broker=b0)",
    "future_replica_fetch(broker=b0)",
    "future_replica_fetch(broker=b0)",
)
"""Broker 0's future replica has both records, of which one is below the high watermark."""


def moved(*steps: str, **changed: str) -> dict[str, int]:
    """What the model has of broker 0's future replica, and its log's end, after the steps."""
    settings = OFF | {name.replace("_", "."): value for name, value in changed.items()}
    model = kafka_model("kafka-fixed", settings, **BOUNDS)
    state = after(model, *steps)
    names = {"brokers.log.end": "end", "brokers.future.log.end": "copied"}
    names |= {f"brokers.future.{name}": name for name in ("truncating", "fetch_offset", "exists")}
    names["brokers.future.high_watermark"] = "copied_hw"
    names["brokers.future.failed"] = "failed"
    return {
        names[cell.variable.name]: state[cell.position]
        for cell in model.cells
        if cell.variable.name in names and cell.index[0] == 0
    }


def test_a_truncation_that_is_not_the_last_is_not_told():
    told = moved(*TRUNCATED, every_truncation_marks_future_replica="true")
    assert (told["end"], told["copied"], told["truncating"], told["fetch_offset"]) == (1, 2, 1, 1)
    assert moved(*TRUNCATED)["truncating"] == 0


def test_a_copy_that_is_told_is_cut_where_the_logs_part():
    again = (*TRUNCATED, "follower_fetch_record(follower=b0, leader=b1)")
    compared = moved(
        *again, "future_replica_truncate(broker=b0)", every_truncation_marks_future_replica="true"
    )
    assert (compared["end"], compared["copied"], compared["truncating"]) == (2, 1, 0)
    replaced = moved(*again, "future_replica_replace(broker=b0)")
    assert (replaced["end"], replaced["copied"], replaced["exists"]) == (2, 0, 0)


def test_a_copy_that_is_longer_than_the_log_is_cut_at_its_end():
    cut = moved(*TRUNCATED, "future_replica_truncate_out_of_range(broker=b0)")
    assert (cut["end"], cut["copied"], cut["truncating"]) == (1, 1, 0)


@pytest.mark.parametrize(
    "steps",
    [
        (*COPIED, "broker_crash(broker=b0, checkpoint=0)"),
        (*COPIED[:5], *COPIED[15:17], *COPIED[5:10], "leader_apply_metadata(broker=b0)"),
    ],
    ids=["stop", "epoch"],
)
def test_a_copy_is_compared_again_after_a_stop_and_in_each_leader_epoch(steps):
    assert moved(*steps[:-1])["truncating"] == 0
    compared = moved(*steps)
    assert (compared["exists"], compared["truncating"]) == (1, 1)


@pytest.mark.parametrize(
    ("stop", "left"),
    [
        ("broker_shut_down(broker=b0)", 1),
        ("broker_crash(broker=b0, checkpoint=1)", 1),
        ("broker_crash(broker=b0, checkpoint=0)", 0),
    ],
)
def test_a_copy_begins_again_at_the_high_watermark_of_the_same_checkpoint(stop, left):
    copied = moved(*HELD)
    assert (copied["end"], copied["copied"], copied["copied_hw"]) == (2, 2, 1)
    stopped = moved(*HELD, stop)
    assert (stopped["copied_hw"], stopped["fetch_offset"], stopped["truncating"]) == (left, left, 1)


def test_a_copy_whose_fetcher_is_not_told_of_an_epoch_goes_on_after_a_restart():
    """KAFKA-9654: its requests are of the earlier epoch. A restart adds it anew."""
    later = (*COPIED[:5], *COPIED[15:17], *COPIED[5:10], "leader_apply_metadata(broker=b0)")
    crash, again = "broker_crash(broker=b0, checkpoint=0)", "broker_restart(broker=b0)"
    fenced = "controller_fence_leader(broker=b0, successor=b1)"
    told = [
        moved(*later, *more, new_epoch_restarts_log_dir_fetcher="false")["failed"]
        for more in ((), (crash,), (crash, fenced, again))
    ]
    before = moved(*later[:-1], new_epoch_restarts_log_dir_fetcher="false")["failed"]
    assert (before, *told) == (0, 1, 0, 0)


def test_an_empty_copy_is_given_up_where_something_is_committed():
    """KAFKA-9087: it begins at the log's high watermark, where the copy does not end."""
    move, copy = "operator_move_log(broker=b0)", "future_replica_fetch(broker=b0)"
    epoch = (
        "controller_fence_leader(broker=b0, successor=b1)",
        "follower_apply_metadata(broker=b0)",
    )
    told = [
        moved(*steps, *epoch, log_dir_fetcher_begins_at_its_hw="false")["failed"]
        for steps in ((*HELD[:3], move), (move,), (*HELD[:3], move, copy))
    ]
    assert told == [1, 0, 0]


@pytest.mark.parametrize(("kept", "left"), [("true", 2), ("false", 0)])
def test_a_copy_whose_directory_is_accepted_is_the_log_after_a_crash(kept, left):
    """KAFKA-16082: without the fix the broker makes an empty log in that directory."""
    crash = "broker_crash_before_replacing(broker=b0)"
    found = moved(*HELD, crash, abandoned_future_replica_is_kept=kept)
    assert (found["end"], found["exists"]) == (left, 0)
