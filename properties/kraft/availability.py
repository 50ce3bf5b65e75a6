"""What keeps a quorum going: no process ends, and voters can be counted on.

Nothing is lost without it. That nobody disturbs a leader is in `pre_votes.py`.
"""

from __future__ import annotations

from model.kraft.bounds import DISK_LOSSES, SNAPSHOTS, VERSION_UPGRADES
from model.kraft.kafka_raft_client_elections import finds_leader, may_hear
from model.kraft.kafka_raft_client_replication import follows, is_valid
from model.kraft.kafka_raft_log import is_sent_snapshot, takes_snapshot
from model.kraft.kraft_control_record_state_machine import voter_set
from model.kraft.leader_state import is_established, takes_fetch_offset
from model.kraft.quorum_controller import has_state_to_go_back_to
from model.kraft.settings import KRaftVersion
from model.kraft.state import CANDIDATE, FOLLOWER, RESIGNED, Node, Quorum
from model.language import Model, all_of, any_of, every, implies, is_none, not_, some
from properties.claims import always


def leads_latest(quorum: Quorum, node: Node) -> bool:
    """The node leads, and nobody has heard of a later epoch."""
    return all_of(node.leads, every(other.epoch <= node.epoch for other in quorum.nodes))


def has_dynamic_voters(model: Model) -> bool:
    """Voters are in the log from the start."""
    return bool(model.settings.kraft_version == KRaftVersion.DYNAMIC)


def has_voters_in_the_log(model: Model) -> bool:
    """Voters are in the log, or may come to be."""
    return has_dynamic_voters(model) or model.bounds[VERSION_UPGRADES.name] > 0


def has_snapshots(model: Model) -> bool:
    """Controllers make snapshots."""
    return model.bounds[SNAPSHOTS.name] > 0


@always(
    "a_follower_accepts_its_leaders_snapshot",
    "a follower accepts the snapshot that its leader sends it",
    failure="{leader} sends {node} a snapshot that it refuses: its process ends",
    breach="sends a controller a snapshot that it refuses",
    broken_by="kraft snapshot.of.earlier.epoch.is.taken=false",
    premise=lambda q: some(
        all_of(node != leader, follows(node, leader), is_sent_snapshot(node, leader))
        for node in q.nodes
        for leader in q.nodes
    ),
    promised=has_snapshots,
)
def a_follower_accepts_its_leaders_snapshot(quorum: Quorum) -> bool:
    """A restart does not help: the leader sends the same snapshot until it has a later one.

    A leader's snapshot is committed, so accepting it loses nothing.
    """
    return every(
        implies(
            all_of(node != leader, follows(node, leader), is_sent_snapshot(node, leader)),
            takes_snapshot(quorum, node, leader),
        )
        for node in quorum.nodes
        for leader in quorum.nodes
    )


@always(
    "a_leader_is_named_with_endpoints",
    "a node that is told who leads is told the leader's endpoints, has them in its voter set, or "
    "tries the next bootstrap server",
    failure="{other} names {other.leader} to {node} as the leader, without endpoints, and {node} "
    "has none in its voter set: the process of {node} exits",
    breach="names a leader to a controller without endpoints",
    broken_by="kraft unknown.endpoints.are.no.leader=false",
    premise=lambda q: some(
        all_of(may_hear(q, node, other), not_(is_none(other.leader)))
        for node in q.nodes
        for other in q.nodes
    ),
    promised=has_dynamic_voters,
)
def a_leader_is_named_with_endpoints(quorum: Quorum) -> bool:
    """A new node has no voter set to look endpoints up in."""
    if quorum.options.unknown_endpoints_taken:
        return True
    return every(
        implies(
            all_of(may_hear(quorum, node, other), not_(is_none(other.leader))),
            finds_leader(quorum, node, other),
        )
        for node in quorum.nodes
        for other in quorum.nodes
    )


@always(
    "no_truncation_below_the_high_watermark",
    "no leader asks a follower to truncate below the follower's high watermark",
    failure="{leader} asks {node} to truncate below its high watermark of {node.high_watermark}",
    breach="asks a controller to truncate below its high watermark",
    broken_by="kraft restart.flushes.log=false",
)
def no_truncation_below_the_high_watermark(quorum: Quorum) -> bool:
    """The follower's poll thread ends with an exception, and its process with it."""
    return every(
        implies(
            all_of(
                leader.leads,
                node != leader,
                node.epoch == leader.epoch,
                row.number < node.high_watermark,
                node.log.has(row.number),
            ),
            all_of(
                leader.log.has(row.number),
                leader.log[row.number].epoch == node.log[row.number].epoch,
            ),
        )
        for node in quorum.nodes
        for leader in quorum.nodes
        for row in quorum.committed
    )


@always(
    "a_leader_accepts_a_lower_fetch_offset",
    "a leader accepts a lower fetch offset from a follower that lost its disk",
    failure="{node} fetches from below the fetch offset that {leader} has of it, and the "
    "process of {leader} ends",
    breach="ends a leader's process by a Fetch request",
    broken_by="kraft fetch.offset.may.fall=false",
    premise=lambda q: some(
        all_of(node != leader, follows(node, leader), leader.fetched[node] > node.log.end)
        for node in q.nodes
        for leader in q.nodes
    ),
    promised=lambda model: model.bounds[DISK_LOSSES.name] > 0,
)
def a_leader_accepts_a_lower_fetch_offset(quorum: Quorum) -> bool:
    """A follower whose disk was replaced would end one leader after the other."""
    return every(
        implies(
            all_of(node != leader, follows(node, leader), is_valid(node, leader)),
            takes_fetch_offset(quorum, leader, node),
        )
        for node in quorum.nodes
        for leader in quorum.nodes
    )


@always(
    "a_log_begins_at_a_snapshot",
    "a node has a snapshot of all that is before its log start offset",
    failure="the log of {node} starts at {node.log_start}, and it has no snapshot up to there",
    breach="has a log that starts after its snapshot",
    broken_by="kraft snapshot.is.flushed=false",
    premise=lambda q: some(node.log_start > 0 for node in q.nodes),
    promised=has_snapshots,
)
def a_log_begins_at_a_snapshot(quorum: Quorum) -> bool:
    """Else the node does not start: the metadata before its log start offset is lost."""
    return every(node.log_start <= node.snapshot_end for node in quorum.nodes)


@always(
    "a_controller_that_renounces_can_revert",
    "a controller that loses leadership has an in-memory snapshot at its last stable offset",
    of_steps=True,
    failure="{node} leads no more, and has no in-memory snapshot to revert to: its process ends",
    breach="ends a controller that has no in-memory snapshot to revert to",
    broken_by="kraft control.records.are.skipped=false",
    promised=has_voters_in_the_log,
)
def a_controller_that_renounces_can_revert(before: Quorum, after: Quorum) -> bool:
    """`QuorumController.renounce` reverts to it. A node that restarts has nothing to revert."""
    return every(
        implies(
            all_of(
                node.leads,
                is_established(before, node),
                not_(after.nodes[node].leads),
                after.nodes[node].high_watermark > 0,
            ),
            has_state_to_go_back_to(before, node),
        )
        for node in before.nodes
    )


@always(
    "an_added_voter_has_caught_up",
    "a node that a leader adds to the voters has a record of that leader's epoch in its log",
    of_steps=True,
    failure="{leader} adds {node}, whose log lacks what was committed before epoch {leader.epoch}",
    breach="adds a voter that has not caught up",
    broken_by="kraft added.voter.has.caught.up=false",
    promised=has_voters_in_the_log,
)
def an_added_voter_has_caught_up(before: Quorum, after: Quorum) -> bool:
    """Else the quorum tolerates one failure less until it has. A replaced leader is not judged."""
    return every(
        implies(
            all_of(
                leads_latest(before, leader),
                after.nodes[leader].log.end > leader.log.end,
                voter_set(after, after.nodes[leader]).contains(node),
                not_(voter_set(before, leader).contains(node)),
            ),
            node.log.last_epoch == leader.epoch,
        )
        for leader in before.nodes
        for node in before.nodes
    )


@always(
    "a_role_fits_epoch_vote_and_leader",
    "a Candidate has voted for itself and knows no leader; a Leader or Resigned node, and no "
    "other, has itself as leader; a Follower knows its leader",
    failure="the role of {node} does not fit its vote and the leader that it knows",
    breach="has a controller in a state that its vote and leader do not allow",
    broken_by="a candidate that does not vote for itself",
)
def a_role_fits_epoch_vote_and_leader(quorum: Quorum) -> bool:
    """`QuorumState` throws at a transition that breaks this, and the process ends."""
    return every(
        all_of(
            implies(node.role == CANDIDATE, all_of(is_none(node.leader), node.voted == node)),
            implies(node.role == FOLLOWER, not_(is_none(node.leader))),
            implies(any_of(node.leads, node.role == RESIGNED), node.leader == node),
            implies(node.leader == node, any_of(node.leads, node.role == RESIGNED)),
        )
        for node in quorum.nodes
    )
