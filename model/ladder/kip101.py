"""KIP-101 (Kafka 0.11): a new follower asks the leader where the epoch of its last entry ends.

Each entry carries the epoch of the leader that appended it, so a log says more than the HW about
what two replicas share: where the follower's last epoch ends on the leader, there they part.

The leader's answer is one lookup. If the leader never saw that epoch, the answer belongs to another
epoch, and entries that the leader does not have may stay: the hole that KIP-279 closes.
"""

from __future__ import annotations

from model.ladder.cluster import (
    Cluster,
    LeaderAndIsrRequest,
    Replica,
    become_follower_and_truncate,
    ladder_protocol,
    require_newer_request,
)
from model.language import action, all_of, any_of, choose, smallest


def end_of_epoch(leader: Replica, epoch: int, unknown: int) -> int:
    """Where the leader's log says that `epoch` ends; `unknown` if it cannot tell.

    The leader's end if the epoch is its last one, else its first offset with a greater epoch.
    """
    log = leader.log
    beyond = log.capacity
    first_greater = smallest(
        choose(all_of(log.has(offset), log[offset].epoch > epoch), offset, beyond)
        for offset in log.positions
    )
    return choose(
        all_of(log.end > 0, log.last_epoch == epoch),
        log.end,
        choose(any_of(log.is_empty, first_greater == beyond), unknown, first_greater),
    )


def truncation_offset(follower: Replica, leader: Replica) -> int:
    """Where a new follower truncates: at the end of its last epoch on the leader, else its HW."""
    found = end_of_epoch(leader, follower.log.last_epoch, unknown=follower.high_watermark)
    return choose(follower.log.is_empty, 0, found)


@action(
    "{follower} becomes follower of {leader} in epoch {request.number}",
    at="Kip101.BecomeFollowerTruncateKip101",
)
def become_follower(
    cluster: Cluster, follower: Replica, leader: Replica, request: LeaderAndIsrRequest
) -> None:
    """Adopt a request that names another leader, and truncate by leader epoch, one lookup."""
    require_newer_request(cluster, follower, leader, request)

    end = truncation_offset(follower, leader)
    become_follower_and_truncate(follower, leader, request, end)


KIP101 = ladder_protocol(
    "kip101",
    "KIP-101",
    "followers truncate by leader epoch, one lookup (KIP-101)",
    "Kip101.tla",
    become_follower,
)
