"""A first try at KIP-320, abandoned: compare the epoch of entries, not of the replicas.

Followers do not truncate when they learn of a leader but when a fetch shows that their last entry
differs: what fetching finds out anyway need not be asked before. The leader believes a follower
whose entry at the offset in question has the right epoch.

That is not enough. After several quick elections such a follower may be in an older epoch, and
truncate on its way to this one after the leader has counted it. Elected before it has fetched
again, it loses what was committed. With the replica's epoch in each fetch that cannot happen; but
then one truncation for each epoch suffices, as before: that is `kip320`.
"""

from __future__ import annotations

from dataclasses import replace

from model.ladder.cluster import (
    Cluster,
    LeaderAndIsrRequest,
    Replica,
    replicate_next_entry,
    require_newer_request,
)
from model.ladder.kafka_7128 import high_watermark_has_reached_epoch
from model.ladder.kip279 import KIP279
from model.language import action, all_of, any_of, every, not_, require


def is_caught_up_to_epoch(follower: Replica, leader: Replica, end: int) -> bool:
    """The follower names this leader, and its entry below `end` has the leader's epoch for it."""
    offset = end - 1
    return all_of(
        leader.presumes_leadership,
        follower.follows(leader),
        any_of(
            end == 0,
            all_of(
                leader.log.has(offset),
                follower.log.has(offset),
                follower.log[offset].epoch == leader.log[offset].epoch,
            ),
        ),
    )


@action("{leader} adds {follower} to the ISR", at="Kip320FirstTry.LeaderExpandIsrBetterFencing")
def leader_expand_isr(cluster: Cluster, leader: Replica, follower: Replica) -> None:
    """Add a follower whose entries match up to a HW that has reached the leader's epoch."""
    require(cluster.is_true_leader(leader))
    require(not_(leader.isr.contains(follower)))
    require(is_caught_up_to_epoch(follower, leader, leader.high_watermark))
    require(high_watermark_has_reached_epoch(leader))

    cluster.update_isr(leader, leader.isr.with_member(follower))


@action(
    "{leader} removes {follower} from the ISR",
    at="Kip320FirstTry.LeaderShrinkIsrBetterFencing",
)
def leader_shrink_isr(cluster: Cluster, leader: Replica, follower: Replica) -> None:
    """Drop a follower whose entry differs from the leader's last one."""
    require(cluster.is_true_leader(leader))
    require(leader.isr.contains(follower), follower != leader)
    require(not_(is_caught_up_to_epoch(follower, leader, leader.log.end)))

    cluster.update_isr(leader, leader.isr.without_member(follower))


@action("{leader} advances its high watermark", at="Kip320FirstTry.ImprovedLeaderIncHighWatermark")
def leader_advance_high_watermark(cluster: Cluster, leader: Replica) -> None:
    """Commit the next offset once every ISR member's entry there has the right epoch."""
    offset = leader.high_watermark
    require(leader.presumes_leadership)
    require(leader.log.has(offset))
    require(every(is_caught_up_to_epoch(m, leader, offset + 1) for m in leader.isr))

    leader.high_watermark = offset + 1


@action(
    "{follower} becomes follower of {leader} in epoch {request.number}",
    at="Kip320FirstTry.BecomeFollower",
)
def become_follower(
    cluster: Cluster, follower: Replica, leader: Replica, request: LeaderAndIsrRequest
) -> None:
    """Adopt a request that names another leader. Truncation comes later, when a fetch needs it."""
    require_newer_request(cluster, follower, leader, request)

    follower.adopt(request, leader)


@action("{follower} fetches from {leader}", at="Kip320FirstTry.FollowerFetch")
def follower_replicate(cluster: Cluster, follower: Replica, leader: Replica) -> None:
    """Fetch the next entry if the last one has the leader's epoch for it."""
    require(is_caught_up_to_epoch(follower, leader, follower.log.end))

    replicate_next_entry(follower, leader)


@action("{follower} truncates to match {leader}", at="Kip320FirstTry.FollowerTruncate")
def follower_truncate(cluster: Cluster, follower: Replica, leader: Replica) -> None:
    """Truncate to where the logs agree: the follower is ahead, or its last entry differs."""
    last = follower.log.end - 1
    differs = all_of(
        follower.log.end > 0,
        leader.log.has(last),
        leader.log[last].epoch != follower.log[last].epoch,
    )
    require(leader.presumes_leadership)
    require(follower.follows(leader))
    require(any_of(follower.log.end > leader.log.end, differs))

    follower.truncate_to(follower.log.end_of_agreement(leader.log))


KIP320_FIRST_TRY = KIP279.variant(
    "kip320_first_try",
    "fetches compare the epochs of entries, not of replicas (KIP-320, first try)",
    leader_expand_isr,
    leader_shrink_isr,
    leader_advance_high_watermark,
    become_follower,
    follower_replicate,
    extra=(follower_truncate,),
    source="Kip320FirstTry.tla",
    telling=replace(KIP279.telling, system="KIP-320's first try"),
)
