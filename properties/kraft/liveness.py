"""What happens in a quorum in the end, on every run that is fair by `model/kraft/fairness.py`.

Budgets of faults and changes run out, so each run comes to an end of them. What is promised of a
leader ends with its leadership.
"""

from __future__ import annotations

from model.kraft.kafka_raft_client_replication import follows
from model.kraft.kraft_control_record_state_machine import (
    is_voter,
)
from model.kraft.leader_state import is_established
from model.kraft.state import Node, Quorum
from model.language import all_of, any_of, not_, some
from properties.kraft.availability import leads_latest
from properties.liveness import Liveness, always_eventually, leads_to


@always_eventually(
    "a_leader_is_elected",
    "again and again the leader of the latest epoch has committed a record of its epoch",
    broken_by="kraft with timeouts that never expire",
)
def a_leader_is_elected(quorum: Quorum) -> bool:
    """Else no metadata changes: no partition gets a new leader."""
    return some(
        all_of(leads_latest(quorum, node), is_established(quorum, node)) for node in quorum.nodes
    )


def has_uncommitted(quorum: Quorum, node: Node) -> bool:
    """The node leads the latest epoch, and has a record that is not committed."""
    return all_of(leads_latest(quorum, node), node.high_watermark < node.log.end)


@leads_to(
    "appends_are_committed",
    "what a leader has appended is committed, unless it leads no more",
    has_uncommitted,
    of="nodes",
    broken_by="kraft with followers that do not fetch",
)
def appends_are_committed(quorum: Quorum, node: Node) -> bool:
    """Else requests to the controller time out."""
    return not_(has_uncommitted(quorum, node))


def changes_voters(quorum: Quorum, node: Node) -> bool:
    """The node leads the latest epoch, and its last VotersRecord is not committed."""
    return all_of(leads_latest(quorum, node), node.log.last_voters_offset >= node.high_watermark)


@leads_to(
    "a_change_of_voters_ends",
    "a VotersRecord is committed, unless its leader leads no more",
    changes_voters,
    of="nodes",
    broken_by="kraft with followers that do not fetch",
)
def a_change_of_voters_ends(quorum: Quorum, node: Node) -> bool:
    """Else no other change may begin."""
    return not_(changes_voters(quorum, node))


def is_behind(quorum: Quorum, node: Node) -> bool:
    """A voter follows the leader of the latest epoch, and does not have its log."""
    return some(
        all_of(
            leads_latest(quorum, leader),
            follows(node, leader),
            is_voter(quorum, leader, node),
            any_of(node.log.end < leader.log.end, node.log.last_epoch != leader.log.last_epoch),
        )
        for leader in quorum.nodes
    )


@leads_to(
    "followers_catch_up",
    "a voter that follows the leader gets all of its log, unless it stops to follow or the leader "
    "leads no more",
    is_behind,
    of="nodes",
    broken_by="kraft snapshot.of.earlier.epoch.is.taken=false",
)
def followers_catch_up(quorum: Quorum, node: Node) -> bool:
    """Else the quorum tolerates one failure less."""
    return not_(is_behind(quorum, node))


KRAFT_LIVENESS: tuple[Liveness, ...] = (
    a_leader_is_elected,
    appends_are_committed,
    a_change_of_voters_ends,
    followers_catch_up,
)
