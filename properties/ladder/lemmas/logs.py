"""Lemmas about logs: where records come from, and how much of two logs must agree."""

from __future__ import annotations

from model.ladder.cluster import Cluster
from model.ladder.kip320 import follows_in_epoch
from model.language import all_of, every, implies, some
from properties.claims import always
from properties.ladder.lemmas.epochs import leads_in


@always(
    "epochs_in_logs",
    "epochs do not decrease along a log and do not pass the replica's own",
    failure="{replica} is in epoch {replica.leader_epoch}; the epochs in its log are out of order "
    "at offset {offset}",
    broken_by="a leader that writes with the quorum's epoch",
)
def epochs_in_logs(cluster: Cluster) -> bool:
    """Logs are in order of epochs."""
    return every(
        implies(
            replica.log.has(offset),
            all_of(
                replica.log[offset].epoch <= replica.leader_epoch,
                every(
                    implies(
                        earlier < offset,
                        replica.log[earlier].epoch <= replica.log[offset].epoch,
                    )
                    for earlier in replica.log.positions
                ),
            ),
        )
        for replica in cluster.replicas
        for offset in replica.log.positions
    )


@always(
    "log_matching",
    "where two logs have the same epoch at an offset, they are the same there and below",
    failure="{replica} and {other} have the same epoch at offset {offset} but differ at offset "
    "{earlier}",
    broken_by="two leaders that write in the same epoch",
)
def log_matching(cluster: Cluster) -> bool:
    """As Raft's log matching: epoch and offset name one history."""
    return every(
        implies(
            all_of(
                replica.log.has(offset),
                other.log.has(offset),
                replica.log[offset].epoch == other.log[offset].epoch,
            ),
            every(
                implies(earlier <= offset, replica.log.same_entry(other.log, earlier))
                for earlier in replica.log.positions
            ),
        )
        for replica in cluster.replicas
        for other in cluster.replicas
        for offset in replica.log.positions
    )


@always(
    "origin",
    "the leader of a record's epoch got there, and holds the record while it is in that epoch",
    failure="{replica} holds a record of the epoch of {request} at offset {offset}, which the "
    "leader of that epoch cannot have written",
    broken_by="a follower that stamps the records that it copies with its own epoch",
)
def origin(cluster: Cluster) -> bool:
    """Records come from the leader of their epoch."""
    return every(
        implies(
            all_of(replica.log.has(offset), replica.log[offset].epoch == request.number),
            some(
                all_of(
                    leads_in(leader, request),
                    implies(
                        leader.leader_epoch == request.number,
                        replica.log.same_entry(leader.log, offset),
                    ),
                )
                for leader in cluster.replicas
            ),
        )
        for replica in cluster.replicas
        for offset in replica.log.positions
        for request in cluster.requests
    )


@always(
    "follower_has_prefix",
    "a follower's log is a prefix of its leader's while they are in the same epoch",
    failure="{follower} follows {leader} in epoch {leader.leader_epoch} but its log is no prefix "
    "of {leader}'s: see offset {offset}",
    broken_by="kip320 fence_truncation=false",
)
def follower_has_prefix(cluster: Cluster) -> bool:
    """Truncation and fetching leave nothing that the leader does not have."""
    return every(
        implies(
            follows_in_epoch(follower, leader),
            every(
                implies(follower.log.has(offset), follower.log.same_entry(leader.log, offset))
                for offset in follower.log.positions
            ),
        )
        for follower in cluster.replicas
        for leader in cluster.replicas
    )
