"""KIP-320 (Kafka 2.1): leader and follower must be in the same epoch for anything to count.

What one replica knows of another is true of an epoch. Before KIP-320 it was used in other epochs
too: a zombie's log as a guide for truncation, the fetch of a follower that would truncate later as
a reason to commit. Four fences, each at its rule below, can be switched off to see what it is for:

- truncate only against a leader in the same epoch, and before the first fetch;
- fetch only from a leader in the same epoch;
- count only followers in the same epoch for the HW;
- let followers join the ISR only once the HW has reached the epoch (KAFKA-7128).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from model.ladder.cluster import (
    Cluster,
    LeaderAndIsrRequest,
    Replica,
    become_follower_and_truncate,
    replicate_next_entry,
    require_newer_request,
)
from model.ladder.kafka_7128 import high_watermark_has_reached_epoch
from model.ladder.kip279 import KIP279
from model.language import action, all_of, any_of, every, not_, require, setting


@dataclass(frozen=True)
class Kip320Settings:
    """The fences of KIP-320."""

    fence_truncation: bool = setting(True, "truncate only against a leader in the same epoch")
    fence_fetch: bool = setting(True, "fetch only from a leader in the same epoch")
    fence_high_watermark: bool = setting(True, "advance the HW only on followers in the epoch")
    wait_for_epoch: bool = setting(True, "let followers join once the HW has reached the epoch")


def follows_in_epoch(follower: Replica, leader: Replica) -> bool:
    """Both agree that `leader` leads, and in which epoch."""
    return all_of(
        leader.presumes_leadership,
        follower.follows(leader),
        follower.leader_epoch == leader.leader_epoch,
    )


@action("{leader} adds {follower} to the ISR", at="Kip320.FencedLeaderExpandIsr")
def leader_expand_isr(cluster: Cluster, leader: Replica, follower: Replica) -> None:
    """Add a follower of this epoch that has reached a HW which has itself reached the epoch."""
    require(cluster.is_true_leader(leader))
    require(not_(leader.isr.contains(follower)))
    require(follows_in_epoch(follower, leader))
    require(follower.log.end >= leader.high_watermark)
    if cluster.settings.wait_for_epoch:
        require(high_watermark_has_reached_epoch(leader))

    cluster.update_isr(leader, leader.isr.with_member(follower))


@action("{leader} removes {follower} from the ISR", at="Kip320.FencedLeaderShrinkIsr")
def leader_shrink_isr(cluster: Cluster, leader: Replica, follower: Replica) -> None:
    """Drop a follower that is in another epoch or behind, at once or late.

    Dropping is always safe, unlike joining: whoever is left still holds all that was committed.
    """
    require(cluster.is_true_leader(leader))
    require(leader.isr.contains(follower), follower != leader)
    require(any_of(not_(follows_in_epoch(follower, leader)), follower.log.end < leader.log.end))

    cluster.update_isr(leader, leader.isr.without_member(follower))


@action("{leader} advances its high watermark", at="Kip320.FencedLeaderIncHighWatermark")
def leader_advance_high_watermark(cluster: Cluster, leader: Replica) -> None:
    """Commit the next offset once every ISR member follows in this epoch and holds it.

    Who is in this epoch has truncated for it already, and will not cut what is counted here.
    """
    offset = leader.high_watermark
    counts = follows_in_epoch if cluster.settings.fence_high_watermark else Replica.follows
    require(leader.presumes_leadership)
    require(leader.log.has(offset))
    require(every(counts(m, leader) & m.log.has(offset) for m in leader.isr))

    leader.high_watermark = offset + 1


@action(
    "{follower} becomes follower of {leader} in epoch {request.number}",
    at="Kip320.FencedBecomeFollowerAndTruncate",
)
def become_follower(
    cluster: Cluster, follower: Replica, leader: Replica, request: LeaderAndIsrRequest
) -> None:
    """Adopt a request once its leader has, and truncate to where the two logs agree.

    A leader in another epoch is no guide: it may have to truncate itself before it gets here, and
    the follower would be left with entries that no leader has.
    """
    require_newer_request(cluster, follower, leader, request)
    if cluster.settings.fence_truncation:
        require(leader.presumes_leadership, leader.leader_epoch == request.number)

    end = follower.log.end_of_agreement(leader.log)
    become_follower_and_truncate(follower, leader, request, end)


@action("{follower} fetches from {leader}", at="Kip320.FencedFollowerFetch")
def follower_replicate(cluster: Cluster, follower: Replica, leader: Replica) -> None:
    """Fetch the next entry from a leader in the same epoch.

    It has truncated for this epoch, so the logs agree up to there and entries need no comparison.
    """
    require(leader.presumes_leadership, follower.follows(leader))
    if cluster.settings.fence_fetch:
        require(follows_in_epoch(follower, leader))

    replicate_next_entry(follower, leader)


KIP320 = KIP279.variant(
    "kip320",
    "leader and follower act only within the same epoch (KIP-320)",
    leader_expand_isr,
    leader_shrink_isr,
    leader_advance_high_watermark,
    become_follower,
    follower_replicate,
    settings=Kip320Settings,
    source="Kip320.tla",
    telling=replace(KIP279.telling, system="KIP-320"),
)
