"""What the ladder's protocols should do in the end, if replicas fetch and leaders serve them.

The specification that the ladder is after claims nothing of the kind: these are ours. A rung is a
safety story, and what comes out for it is told in `docs/liveness.md`.
"""

from __future__ import annotations

from model.ladder.cluster import Cluster, Replica
from model.language import all_of, any_of, every, is_none, not_
from properties.liveness import Liveness, always_eventually, leads_to


def holds_an_uncommitted_record(cluster: Cluster, leader: Replica) -> bool:
    """The true leader has a record above its HW."""
    return all_of(cluster.is_true_leader(leader), leader.high_watermark < leader.log.end)


@leads_to(
    "records_commit",
    "a true leader's high watermark reaches the end of its log, or it leads no more",
    holds_an_uncommitted_record,
    of="replicas",
    broken_by="kip320",
)
def records_commit(cluster: Cluster, leader: Replica) -> bool:
    """Else a producer waits for ever."""
    return not_(holds_an_uncommitted_record(cluster, leader))


@leads_to(
    "the_leader_takes_office",
    "the replica that the controller elected comes to know, or the controller names another one, "
    "or none",
    lambda cluster, replica: cluster.quorum.leader == replica,
    of="replicas",
)
def the_leader_takes_office(cluster: Cluster, replica: Replica) -> bool:
    """Else there is a leader in name only."""
    return any_of(cluster.quorum.leader != replica, cluster.is_true_leader(replica))


@always_eventually(
    "everybody_is_in_sync",
    "again and again there is no leader, or every replica is in the ISR at the controller",
    broken_by="kip320",
)
def everybody_is_in_sync(cluster: Cluster) -> bool:
    """Else the partition is left with fewer copies than it was given."""
    everybody = every(cluster.quorum.isr.contains(r) for r in cluster.replicas)
    return any_of(is_none(cluster.quorum.leader), everybody)


LADDER_LIVENESS: tuple[Liveness, ...] = (
    records_commit,
    the_leader_takes_office,
    everybody_is_in_sync,
)
