"""KAFKA-7128 (Kafka 2.0.1 and 2.1): who may join the ISR of a leader that is new in office.

A follower learns the HW with a fetch, one fetch late. When it becomes leader, its HW therefore lags
behind what the leader before it has committed, and it cannot know by how much. Its ISR holds all of
that: each member was counted for it. A replica outside the ISR was not, and one that has reached a
HW that lags may lack committed records. Whatever earlier leaders can have committed lies before the
start of the new epoch. So the leader lets nobody join before its own HW has come so far.
"""

from __future__ import annotations

from model.ladder.cluster import Replica
from model.language import all_of, any_of


def high_watermark_has_reached_epoch(leader: Replica) -> bool:
    """The leader's HW is at its end, or at an entry of its own epoch."""
    log, offset = leader.log, leader.high_watermark
    return any_of(
        offset == log.end,
        all_of(log.has(offset), log[offset].epoch == leader.leader_epoch),
    )
