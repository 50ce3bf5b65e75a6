"""What the ladder's protocols claim: committed records stay on every replica that may lead.

After the theorems of hachikuji/kafka-specification. Its `TypeOk` cannot be evaluated by TLC once a
record is written; `well_formed` says what it means.
"""

from __future__ import annotations

from model.ladder.cluster import Cluster, Replica
from model.language import all_of, any_of, every, implies, is_none, not_, some
from properties.claims import Property, always, sometimes


def served_by_leader(leader: Replica, offset: int) -> bool:
    """`leader` believes it is leader, and serves the record at `offset` to consumers."""
    return all_of(leader.presumes_leadership, offset < leader.high_watermark)


def some_record_is_committed(cluster: Cluster) -> bool:
    """Some replica that believes it is leader has a HW above 0."""
    return some(r.presumes_leadership & (r.high_watermark > 0) for r in cluster.replicas)


@always(
    "weak_isr",
    "a record that a broker serves, believing it is leader, is on every member of its own ISR",
    premise=some_record_is_committed,
    failure="{leader} believes it is leader, has {member} in its own ISR {leader.isr}, and serves "
    "offset {offset} (HW {leader.high_watermark}); {member} does not hold the same entry there",
    breach="serves a record that a member of the leader's ISR lacks",
    broken_by="kip279",
)
def weak_isr(cluster: Cluster) -> bool:
    """For each replica that believes it is leader, its own ISR agrees with it below its HW."""
    return every(
        implies(
            served_by_leader(leader, offset) & leader.isr.contains(member),
            leader.log.same_entry(member.log, offset),
        )
        for leader in cluster.replicas
        for member in cluster.replicas
        for offset in leader.log.positions
    )


@always(
    "strong_isr",
    "a record that a broker serves, believing it is leader, is on every replica that can be "
    "elected",
    premise=some_record_is_committed,
    failure="{leader} believes it is leader and serves offset {offset} (HW "
    "{leader.high_watermark}); {member} is in the ISR at the controller, so it can be elected, but "
    "does not hold the same entry there",
    breach="serves a record that the next leader may lack",
    broken_by="kip279",
)
def strong_isr(cluster: Cluster) -> bool:
    """For each replica that believes it is leader, the controller's ISR agrees below its HW."""
    return every(
        implies(
            served_by_leader(leader, offset) & cluster.quorum.isr.contains(member),
            leader.log.same_entry(member.log, offset),
        )
        for leader in cluster.replicas
        for member in cluster.replicas
        for offset in leader.log.positions
    )


@always(
    "leader_in_isr",
    "the leader at the controller, if there is one, is in the ISR at the controller",
    premise=lambda cluster: some(cluster.quorum.leader == r for r in cluster.replicas),
    failure="the leader at the controller is {leader}, which is not in the ISR there",
    breach="has a leader outside the ISR",
    broken_by="a controller that drops the leader from the ISR and lets it lead on",
)
def leader_in_isr(cluster: Cluster) -> bool:
    """A leader outside the ISR could not be trusted with committed records."""
    return every(
        implies(cluster.quorum.leader == leader, cluster.quorum.isr.contains(leader))
        for leader in cluster.replicas
    )


@always(
    "well_formed",
    "every HW is within its log, and nothing is stored beyond an end or in an unsent request",
    failure="{replica} has HW {replica.high_watermark} and end {replica.log.end}, or something is "
    "stored where nothing should be",
    breach="is in a malformed state",
    broken_by="a follower that truncates without lowering its HW",
)
def well_formed(cluster: Cluster) -> bool:
    """One state has one representation, and no HW points at nothing."""
    logs = every(
        all_of(
            replica.high_watermark <= replica.log.end,
            every(
                any_of(
                    replica.log.has(offset),
                    all_of(replica.log[offset].id == 0, replica.log[offset].epoch == 0),
                )
                for offset in replica.log.positions
            ),
        )
        for replica in cluster.replicas
    )
    requests = every(
        any_of(cluster.was_sent(request), all_of(is_none(request.leader), request.isr.is_empty))
        for request in cluster.requests
    )
    return all_of(logs, requests)


@sometimes("a_record_commits", "some leader's high watermark rises above 0")
def a_record_commits(cluster: Cluster) -> bool:
    """Without commits, nothing could be lost."""
    return some_record_is_committed(cluster)


@sometimes("the_leader_changes", "leadership passes from one replica to another", of_steps=True)
def the_leader_changes(before: Cluster, after: Cluster) -> bool:
    """Without leader changes, nothing could diverge."""
    return some(
        all_of(
            not_(is_none(before.quorum.leader)),
            before.quorum.leader != new,
            after.quorum.leader == new,
        )
        for new in before.replicas
    )


@sometimes("a_follower_truncates", "some replica's log becomes shorter", of_steps=True)
def a_follower_truncates(before: Cluster, after: Cluster) -> bool:
    """Without truncation, the rungs could not differ."""
    return some(after.replicas[k].log.end < k.log.end for k in before.replicas)


@sometimes("a_zombie_writes", "a replica appends as leader that no longer leads", of_steps=True)
def a_zombie_writes(before: Cluster, after: Cluster) -> bool:
    """Without zombies, there would be nothing to fence."""
    return some(
        all_of(
            replica.presumes_leadership,
            before.quorum.leader_epoch > replica.leader_epoch,
            after.replicas[replica].log.end > replica.log.end,
        )
        for replica in before.replicas
    )


LADDER_PROPERTIES: tuple[Property, ...] = (
    weak_isr,
    strong_isr,
    leader_in_isr,
    well_formed,
    a_record_commits,
    the_leader_changes,
    a_follower_truncates,
    a_zombie_writes,
)
