"""Lemmas about what is committed: who must hold it, and why nobody else can be elected."""

from __future__ import annotations

from model.ladder.cluster import Cluster, LeaderAndIsrRequest, Replica
from model.ladder.kip320 import follows_in_epoch
from model.language import SetOf, all_of, any_of, every, implies, some
from properties.claims import always
from properties.ladder.lemmas.epochs import leads_in


def in_isr_after(cluster: Cluster, epoch: int, member: Replica) -> bool:
    """`member` is in the ISR of a request newer than `epoch`."""
    return some(
        all_of(cluster.was_sent(request), request.number > epoch, request.isr.contains(member))
        for request in cluster.requests
    )


def someone_moved_on(cluster: Cluster, isr: SetOf[Replica], epoch: int) -> bool:
    """A member of the ISR is in an epoch later than `epoch`."""
    return some(all_of(isr.contains(m), m.leader_epoch > epoch) for m in cluster.replicas)


def has_every_later_isr(cluster: Cluster, isr: SetOf[Replica], epoch: int) -> bool:
    """The ISR at the controller, and of all requests after `epoch`, are subsets of the ISR."""
    return every(
        implies(
            in_isr_after(cluster, epoch, member) | cluster.quorum.isr.contains(member),
            isr.contains(member),
        )
        for member in cluster.replicas
    )


@always(
    "isr_chain_of_leaders",
    "the ISR of a replica that believes it is leader has every later ISR in it, or a member that "
    "has moved on",
    failure="{leader} has ISR {leader.isr} in epoch {leader.leader_epoch}, none of them has moved "
    "on, and yet {member} is in the ISR of a later epoch",
    broken_by="an unclean election",
)
def isr_chain_of_leaders(cluster: Cluster) -> bool:
    """A zombie cannot commit alone: some member of its ISR no longer follows it."""
    return every(
        implies(
            leader.leader == leader,
            any_of(
                someone_moved_on(cluster, leader.isr, leader.leader_epoch),
                has_every_later_isr(cluster, leader.isr, leader.leader_epoch),
            ),
        )
        for leader in cluster.replicas
    )


@always(
    "isr_chain_of_requests",
    "the ISR of a request that nobody leads by yet has every later ISR in it, or a member that has "
    "moved on",
    failure="{request} has ISR {request.isr}, none of them has moved on, and yet {member} is in "
    "the ISR of a later epoch",
    broken_by="an unclean election",
)
def isr_chain_of_requests(cluster: Cluster) -> bool:
    """The same before the leader has adopted its request: it may still do so, as a zombie."""
    return every(
        implies(
            cluster.was_sent(request),
            any_of(
                some(leads_in(leader, request) for leader in cluster.replicas),
                someone_moved_on(cluster, request.isr, request.number),
                has_every_later_isr(cluster, request.isr, request.number),
            ),
        )
        for request in cluster.requests
    )


@always(
    "follower_high_watermark",
    "what a follower knows to be committed of this epoch, its leader does too",
    failure="{follower} counts offset {offset} as committed, of its epoch {follower.leader_epoch}, "
    "but the HW of its leader {leader} is {leader.high_watermark}",
    broken_by="a follower that takes its own end for its HW",
)
def follower_high_watermark(cluster: Cluster) -> bool:
    """A record of the current epoch below a follower's HW is below its leader's."""
    return every(
        implies(
            all_of(
                follows_in_epoch(follower, leader),
                offset < follower.high_watermark,
                follower.log[offset].epoch == follower.leader_epoch,
            ),
            offset < leader.high_watermark,
        )
        for follower in cluster.replicas
        for leader in cluster.replicas
        for offset in follower.log.positions
    )


def committed_in(
    cluster: Cluster, request: LeaderAndIsrRequest, replica: Replica, offset: int
) -> bool:
    """The record at `offset` of `replica` can have been committed in the epoch of `request`.

    The epoch is between the record's and the replica's, and whoever may matter from then on has
    reached it and holds the record: the members of the quorum's ISR, of the replica's own if it
    believes it is leader, and of every newer request's.
    """
    return all_of(
        replica.log[offset].epoch <= request.number,
        request.number <= replica.leader_epoch,
        every(
            implies(
                any_of(
                    cluster.quorum.isr.contains(member),
                    all_of(replica.presumes_leadership, replica.isr.contains(member)),
                    in_isr_after(cluster, request.number, member),
                ),
                all_of(
                    member.leader_epoch >= request.number,
                    member.log.same_entry(replica.log, offset),
                ),
            )
            for member in cluster.replicas
        ),
    )


@always(
    "committed",
    "each record below any HW was committed in some epoch, and all later ISRs hold it",
    failure="offset {offset} of {replica} is below its HW {replica.high_watermark}, but there is "
    "no epoch in which it can have been committed",
    broken_by="kip320 wait_for_epoch=false",
)
def committed(cluster: Cluster) -> bool:
    """The heart of the proof: why what is below a HW is never lost."""
    return every(
        implies(
            offset < replica.high_watermark,
            some(committed_in(cluster, request, replica, offset) for request in cluster.requests),
        )
        for replica in cluster.replicas
        for offset in replica.log.positions
    )
