"""A reassignment that another replaces, and which then ends as the next one is asked for."""

from __future__ import annotations

from model.language.protocol import Model
from tests.support.kafka import kafka_model


def replaced_twice(preset: str) -> Model:
    """Four brokers, three replicas, and as many requests as `UNDER_WAY` and one of `ENDS` make."""
    without_elr = {"eligible.leader.replicas": "false", "last.known.leader.election": "false"}
    return kafka_model(
        f"kafka-{preset}", {"replication.factor": "3"} | without_elr, replicas=4,
        preferred_elections=1, replica_moves=2, replica_additions=1, replica_removals=1,
        reassignment_replacements=2,
    )  # fmt: skip


UNDER_WAY = (
    "controller_elect_preferred_leader(broker=b1)",
    "leader_apply_metadata(broker=b1)",
    "leader_propose_shrink(leader=b1, follower=b0)",
    "controller_apply_isr_change()",
    "operator_move_replica(source=b2, destination=b3)",
    "operator_remove_replica(broker=b1)",
    "leader_apply_metadata(broker=b1)",
    "follower_apply_metadata(broker=b3)",
    "leader_propose_expand(leader=b1, follower=b3)",
    "controller_apply_isr_change()",
)
"""Replicas become fewer, so b0 has to be in sync as well as b3, which joins; it is not."""
ENDS = {
    "operator_move_replica_at_once(source=b0, destination=b1, leader=b1)": ["4.1", "4.3"],
    "operator_add_replica_at_once(broker=b2, leader=b2)": ["4.3"],
}
"""Requests after which enough are in sync, by the rules of which presets. b0 stays if a replica is
added, but they become no fewer: since 4.3 b3 is enough then (KAFKA-19975).
"""
