"""`AddVoterHandler`: an observer that has caught up becomes a voter.

Kafka asks that the observer has once fetched up to what the leader's log had at the Fetch request
before, and that its last Fetch request is at most an hour old. Its log then has a record of the
leader's epoch, which the model asks for: where a response brings all records, that is the same.
"""

from __future__ import annotations

from model.kraft.bounds import VOTER_CHANGES
from model.kraft.kraft_control_record_state_machine import is_static, is_voter, voter_set
from model.kraft.state import FOLLOWER, Node, Quorum
from model.kraft.voter_changes import append_voters, require_changeable
from model.language import action, all_of, any_of, choose, not_, require, some, spend


def _add(quorum: Quorum, leader: Node, node: Node) -> None:
    """Check as the handler does, and append the VotersRecord with the node in it."""
    voters = voter_set(quorum, leader)
    require_changeable(quorum, leader)
    require(not_(voters.contains(node)))
    if quorum.options.added_voter_caught_up:
        require(leader.fetched[node] > leader.log.start_of_epoch(leader.epoch))

    spend(quorum, VOTER_CHANGES)
    second = leader.second_directories
    second = choose(node.second_directory, second.with_member(node), second)
    append_voters(quorum, leader, voters.with_member(node), second)


@action(
    "{leader} adds {voter} to the voter set",
    at="AddVoterHandler.handleApiVersionsResponse",
    since="3.9.0",
    about="KIP-853",
    settings="kraft.version, reconfiguration.waits.for.epoch, one.change.at.a.time, "
    "added.voter.has.caught.up",
)
def leader_add_voter(quorum: Quorum, leader: Node, voter: Node) -> None:
    """An operator's AddVoter request."""
    require(leader != voter)
    _add(quorum, leader, voter)


@action(
    "{node} joins the voter set: {leader} adds it",
    at="KafkaRaftClient.pollFollowerAsObserver",
    since="4.2.0",
    about="KIP-853, KAFKA-19078, KAFKA-19850",
    settings="controller.quorum.auto.join.enable, auto.join.once, added.voter.has.caught.up",
)
def observer_join(quorum: Quorum, node: Node, leader: Node) -> None:
    """The node's own AddVoter request, as the log that it has does not name its id."""
    require(quorum.options.auto_join, node != leader)
    require(node.role == FOLLOWER, node.leader == leader, node.epoch == leader.epoch)
    require(not_(voter_set(quorum, node).is_empty), not_(voter_set(quorum, node).contains(node)))
    require(not_(is_static(quorum, node)))
    if quorum.options.auto_join_once:
        require(not_(_was_voter(node, node)))

    was_voter = _was_voter(node, leader)
    _add(quorum, leader, node)
    quorum.rejoined = any_of(quorum.rejoined, was_voter)


def _was_voter(node: Node, other: Node) -> bool:
    """The other's log has a VotersRecord with the node and the directory that it has now."""
    return some(
        all_of(
            other.log.has(p),
            other.log[p].voters.contains(node),
            other.log[p].second.contains(node) == node.second_directory,
        )
        for p in other.log.positions
    )


def needs_its_old_key_removed(quorum: Quorum, node: Node) -> bool:
    """The node's voter set has its id with another directory."""
    return voter_set(quorum, node).contains(node) & not_(is_voter(quorum, node, node))
