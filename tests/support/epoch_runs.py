"""Runs in which the file of leader epochs is late, for the model and for Kafka's classes.

Each ends with an entry in broker 1's cache again which was not there before the process died; where
the file is written first, it is not.
"""

from __future__ import annotations

from model.language.protocol import Model
from tests.support.kafka import SAFE, kafka_model

LATE = SAFE | {
    "epoch.cache": "kept", "eligible.leader.replicas": "false", "isr.answer.apart": "false",
    "fetch.answers": "at_once", "log.start.file": "later",
}  # fmt: skip
BOUNDS = {
    "replicas": 3, "log_size": 2, "max_records": 3, "max_leader_epoch": 4, "crashes": 2,
    "power_losses": 1, "preferred_elections": 3, "record_deletions": 1,
}  # fmt: skip


def late_model() -> Model:
    """Kafka 4.3 with caches kept, files that are late, and all at once that can be."""
    return kafka_model("kafka-4.3", LATE, **BOUNDS)


def written(lines: tuple[str, ...], after: int) -> tuple[str, ...]:
    """The run, where the scheduler's thread comes to the file after so many steps."""
    return (*lines[:after], "broker_flush_epochs(broker=b1)", *lines[after:])


_FOLLOWS_AND_DIES = (
    "controller_fence_leader(broker=b1, successor=b0)",
    "leader_apply_metadata(broker=b0)",
    "broker_restart(broker=b1)",
    "controller_unfence_broker(broker=b1)",
    "follower_fetch_record(follower=b1, leader=b0)",
    "broker_crash(broker=b1, checkpoint=0)",
)

LOADED = (
    "producer_send(leader=b0)",
    "producer_send(leader=b0)",
    "follower_fetch_record(follower=b1, leader=b0)",
    "controller_elect_preferred_leader(broker=b1)",
    "leader_apply_metadata(broker=b1)",
    "broker_crash(broker=b1, checkpoint=0)",
    *_FOLLOWS_AND_DIES,
)
"""Epoch 1 has no record, and goes as the log is loaded; the file is written after step 9."""

START_MOVED = (
    "producer_send(leader=b0)",
    "follower_fetch_record(follower=b1, leader=b0)",
    "follower_fetch_record(follower=b2, leader=b0)",
    "leader_handle_fetch(leader=b0, follower=b1)",
    "leader_handle_fetch(leader=b0, follower=b2)",
    "broker_delete_records(broker=b0, start=1)",
    "follower_fetch_high_watermark(follower=b1, leader=b0)",
    "broker_crash(broker=b1, checkpoint=0)",
)
"""The log's start moves in memory, and the entry of epoch 0 with it."""

TWO_LOGS = (
    "producer_send(leader=b0)",
    "producer_send(leader=b0)",
    "follower_fetch_record(follower=b1, leader=b0)",
    "follower_fetch_record(follower=b2, leader=b0)",
    "controller_elect_preferred_leader(broker=b1)",
    "leader_apply_metadata(broker=b1)",
    "producer_send(leader=b1)",
    "follower_apply_metadata(broker=b2)",
    "follower_fetch_record(follower=b2, leader=b1)",
    "broker_lose_power(broker=b1, kept=1, checkpoint=0)",
    *_FOLLOWS_AND_DIES,
    "controller_fence_broker(broker=b1)",
    "controller_elect_preferred_leader(broker=b2)",
    "leader_apply_metadata(broker=b2)",
    "broker_restart(broker=b1)",
    "controller_unfence_broker(broker=b1)",
    "leader_propose_expand(leader=b2, follower=b1)",
    "controller_apply_isr_change()",
    "leader_apply_metadata(broker=b2)",
    "leader_propose_shrink(leader=b2, follower=b0)",
    "controller_apply_isr_change()",
    "leader_apply_metadata(broker=b2)",
    "follower_fetch_high_watermark(follower=b1, leader=b2)",
)
"""Finding 0020 without a truncation: the log's end is lost with the power, and its epoch is not."""
