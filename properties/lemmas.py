"""Lemmas about KIP-320: together they are preserved by every step, and imply what it promises.

A property such as `strong_isr` is true in every reachable state, but a step from a state that
merely satisfies it may break it: it says too little about how such a state came about. These lemmas
say the rest. They are ordinary properties: the explorer can check each one, and Z3 proves them
together.

"Newer" and "later" are by epoch. A request or a replica *is in* an epoch; epoch -1 is none.
"""

from __future__ import annotations

from model.language import all_of, any_of, every, implies, is_none, not_, some
from model.protocols.ladder import Cluster, LeaderAndIsrRequest, Replica
from properties.claims import Property, always
from properties.ladder import leader_in_isr, well_formed


def leads_in(replica: Replica, request: LeaderAndIsrRequest) -> bool:
    """`replica` is the leader that `request` names, and has adopted it or a later one."""
    return all_of(request.leader == replica, replica.leader_epoch >= request.number)


def follows_in_epoch(follower: Replica, leader: Replica) -> bool:
    """`leader` presumes that it leads, and `follower` follows it in the same epoch."""
    return all_of(
        follower.leader == leader,
        leader.leader == leader,
        follower.leader_epoch == leader.leader_epoch,
    )


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
    "the quorum's leader is the one that the newest request names",
    failure="{request} is the newest, but the quorum's leader is not the one that it names",
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
    "the quorum's ISR is that of the true leader, or of the newest request until it is adopted",
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
        every(
            implies(
                all_of(request.number == quorum.leader_epoch, request.leader == leader),
                any_of(
                    all_of(
                        leader.leader_epoch == quorum.leader_epoch,
                        quorum.isr == leader.isr,
                    ),
                    all_of(
                        leader.leader_epoch < quorum.leader_epoch,
                        quorum.isr == request.isr,
                    ),
                ),
            )
            for leader in cluster.replicas
        )
        for request in cluster.requests
    )
    return all_of(unnamed, named)


@always(
    "leaders_in_their_isr",
    "the leader of every request is in its ISR, and so is a presumed leader in its own",
    failure="{replica} leads, but is not in the ISR that it leads",
    broken_by="a leader that drops itself from the ISR",
)
def leaders_in_their_isr(cluster: Cluster) -> bool:
    """Whoever leads counts for the HW."""
    requests = every(
        every(
            implies(request.leader == replica, request.isr.contains(replica))
            for replica in cluster.replicas
        )
        for request in cluster.requests
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
        every(
            implies(
                replica.leader_epoch == request.number,
                all_of(replica.leader == request.leader, not_(is_none(replica.leader))),
            )
            for request in cluster.requests
        )
        for replica in cluster.replicas
    )
    blank = every(
        implies(
            replica.leader_epoch < 0,
            all_of(is_none(replica.leader), replica.log.is_empty),
        )
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
        every(
            implies(follower.leader == leader, leader.leader_epoch >= follower.leader_epoch)
            for leader in cluster.replicas
        )
        for follower in cluster.replicas
    )


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
        every(
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
            for offset in replica.log.positions
        )
        for replica in cluster.replicas
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
        every(
            every(
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
                for offset in replica.log.positions
            )
            for other in cluster.replicas
        )
        for replica in cluster.replicas
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
        every(
            every(
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
                for request in cluster.requests
            )
            for offset in replica.log.positions
        )
        for replica in cluster.replicas
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
        every(
            implies(
                follows_in_epoch(follower, leader),
                every(
                    implies(follower.log.has(offset), follower.log.same_entry(leader.log, offset))
                    for offset in follower.log.positions
                ),
            )
            for leader in cluster.replicas
        )
        for follower in cluster.replicas
    )


@always(
    "isr_chain_of_leaders",
    "a presumed leader's ISR has every later ISR in it, or a member that has moved on",
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
                some(
                    all_of(leader.isr.contains(m), m.leader_epoch > leader.leader_epoch)
                    for m in cluster.replicas
                ),
                every(
                    implies(
                        in_isr_after(cluster, leader.leader_epoch, member)
                        | cluster.quorum.isr.contains(member),
                        leader.isr.contains(member),
                    )
                    for member in cluster.replicas
                ),
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
                some(
                    all_of(request.isr.contains(m), m.leader_epoch > request.number)
                    for m in cluster.replicas
                ),
                every(
                    implies(
                        in_isr_after(cluster, request.number, member)
                        | cluster.quorum.isr.contains(member),
                        request.isr.contains(member),
                    )
                    for member in cluster.replicas
                ),
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
        every(
            every(
                implies(
                    all_of(
                        follows_in_epoch(follower, leader),
                        offset < follower.high_watermark,
                        follower.log[offset].epoch == follower.leader_epoch,
                    ),
                    offset < leader.high_watermark,
                )
                for offset in follower.log.positions
            )
            for leader in cluster.replicas
        )
        for follower in cluster.replicas
    )


def in_isr_after(cluster: Cluster, epoch: int, member: Replica) -> bool:
    """`member` is in the ISR of a request newer than `epoch`."""
    return some(
        all_of(cluster.was_sent(request), request.number > epoch, request.isr.contains(member))
        for request in cluster.requests
    )


def committed_in(
    cluster: Cluster, request: LeaderAndIsrRequest, replica: Replica, offset: int
) -> bool:
    """The record at `offset` of `replica` can have been committed in the epoch of `request`.

    The epoch is between the record's and the replica's, and whoever may matter from then on has
    reached it and holds the record: the members of the quorum's ISR, of the replica's own if it
    presumes that it leads, and of every newer request's.
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
        every(
            implies(
                offset < replica.high_watermark,
                some(
                    committed_in(cluster, request, replica, offset) for request in cluster.requests
                ),
            )
            for offset in replica.log.positions
        )
        for replica in cluster.replicas
    )


KIP320_LEMMAS: tuple[Property, ...] = (
    well_formed,
    numbers_issued,
    quorum_leader,
    quorum_isr,
    leader_in_isr,
    leaders_in_their_isr,
    leader_named_by_epoch,
    leader_got_there_first,
    epochs_in_logs,
    log_matching,
    origin,
    follower_has_prefix,
    isr_chain_of_leaders,
    isr_chain_of_requests,
    follower_high_watermark,
    committed,
)
