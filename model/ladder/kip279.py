"""KIP-279 (Kafka 2.0): a new follower truncates to the last entry that it shares with the leader.

After quick changes of leader, two replicas may each have epochs that the other never saw. KIP-101's
one lookup then names an end for an epoch that the follower did not ask about, and the logs differ
for good. So the follower goes back from its end until an entry is the same on both.

In Kafka it asks again with lower epochs until both know one; here that is one step. The leader's
log is looked at as it is, whatever epoch that replica is in: the hole that KIP-320 closes.
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
from model.language import action


@action(
    "{follower} becomes follower of {leader} in epoch {request.number}",
    at="Kip279.BecomeFollowerTruncateKip279",
)
def become_follower(
    cluster: Cluster, follower: Replica, leader: Replica, request: LeaderAndIsrRequest
) -> None:
    """Adopt a request that names another leader, and truncate to where the two logs agree."""
    require_newer_request(cluster, follower, leader, request)

    end = follower.log.end_of_agreement(leader.log)
    become_follower_and_truncate(follower, leader, request, end)


KIP279 = ladder_protocol(
    "kip279",
    "KIP-279",
    "followers truncate to the last entry shared with the leader (KIP-279)",
    "Kip279.tla",
    become_follower,
)
