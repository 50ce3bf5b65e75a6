"""Lemmas about epochs: who leads in each, and that whoever is followed knows it."""

from __future__ import annotations

from model.ladder.cluster import Cluster, LeaderAndIsrRequest, Replica
from model.language import all_of, any_of, every, implies, is_none, not_
from properties.claims import always


def leads_in(replica: Replica, request: LeaderAndIsrRequest) -> bool:
    """`replica` is the leader that `request` names, and has adopted it or a later one."""
    return all_of(request.leader == replica, replica.leader_epoch >= request.number)


@always(
    "numbers_issued",
    "epochs and record ids that are in use have been issued, and the quorum is in the newest epoch",
    failure="{replica} is in epoch {replica.leader_epoch} or holds a record id that was not issued",
    broken_by="a leader that does not count the records that it writes",
)
def numbers_issued(cluster: Cluster) -> bool:
    """Counters are ahead of everything that was counted."""
    replicas = every(
        all_of(
            replica.leader_epoch < cluster.next_leader_epoch,
            every(
                implies(replica.log.has(o), replica.log[o].id < cluster.next_record_id)
                for o in replica.log.positions
            ),
        )
        for replica in cluster.replicas
    )
    return all_of(replicas, cluster.quorum.leader_epoch == cluster.next_leader_epoch - 1)


@always(
    "quorum_leader",
    "the leader at the controller is the one that the newest request names",
    failure="{request} is the newest, but the leader at the controller is another",
    broken_by="a controller that writes the quorum and sends no request",
)
def quorum_leader(cluster: Cluster) -> bool:
    """The newest request is what the quorum says; before the first one, nobody leads."""
    newest = every(
        implies(
            request.number == cluster.quorum.leader_epoch, request.leader == cluster.quorum.leader
        )
        for request in cluster.requests
    )
    return all_of(newest, implies(cluster.next_leader_epoch == 0, is_none(cluster.quorum.leader)))


@always(
    "quorum_isr",
    "the ISR at the controller is the true leader's, or the newest request's until it is adopted",
    failure="in the epoch of {request}, {leader} and the quorum do not agree on the ISR",
    broken_by="a leader that changes its own ISR and does not tell the quorum",
)
def quorum_isr(cluster: Cluster) -> bool:
    """Leader and quorum change the ISR together."""
    quorum = cluster.quorum
    unnamed = every(
        implies(
            all_of(request.number == quorum.leader_epoch, is_none(request.leader)),
            quorum.isr == request.isr,
        )
        for request in cluster.requests
    )
    named = every(
        implies(
            all_of(request.number == quorum.leader_epoch, request.leader == leader),
            any_of(
                all_of(leader.leader_epoch == quorum.leader_epoch, quorum.isr == leader.isr),
                all_of(leader.leader_epoch < quorum.leader_epoch, quorum.isr == request.isr),
            ),
        )
        for request in cluster.requests
        for leader in cluster.replicas
    )
    return all_of(unnamed, named)


@always(
    "leaders_in_their_isr",
    "the leader of every request is in its ISR, and so is any replica "
    "that believes it is leader in its own ISR",
    failure="{replica} leads, but is not in the ISR that it leads",
    broken_by="a leader that drops itself from the ISR",
)
def leaders_in_their_isr(cluster: Cluster) -> bool:
    """Whoever leads counts for the HW."""
    requests = every(
        implies(request.leader == replica, request.isr.contains(replica))
        for request in cluster.requests
        for replica in cluster.replicas
    )
    presumed = every(
        implies(replica.leader == replica, replica.isr.contains(replica))
        for replica in cluster.replicas
    )
    return all_of(requests, presumed)


@always(
    "leader_named_by_epoch",
    "a replica's leader is the one that the request of its epoch names; without epoch, no log",
    failure="{replica} is in epoch {replica.leader_epoch}, which has another leader than its own",
    broken_by="a replica that takes the epoch of one request and the leader of another",
)
def leader_named_by_epoch(cluster: Cluster) -> bool:
    """One epoch, one leader."""
    named = every(
        implies(
            replica.leader_epoch == request.number,
            all_of(replica.leader == request.leader, not_(is_none(replica.leader))),
        )
        for replica in cluster.replicas
        for request in cluster.requests
    )
    blank = every(
        implies(replica.leader_epoch < 0, all_of(is_none(replica.leader), replica.log.is_empty))
        for replica in cluster.replicas
    )
    return all_of(named, blank)


@always(
    "leader_got_there_first",
    "whoever is followed has reached the epoch of its follower",
    failure="{follower} follows {leader} in epoch {follower.leader_epoch}, but {leader} is still "
    "in epoch {leader.leader_epoch}",
    broken_by="kip320 fence_truncation=false",
)
def leader_got_there_first(cluster: Cluster) -> bool:
    """The truncation fence: nobody follows a leader that does not know yet that it leads."""
    return every(
        implies(follower.leader == leader, leader.leader_epoch >= follower.leader_epoch)
        for follower in cluster.replicas
        for leader in cluster.replicas
    )
