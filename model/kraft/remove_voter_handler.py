"""`RemoveVoterHandler`: a voter leaves the voter set, the leader itself too.

`VoterSet.removeVoter` refuses to remove the last one.
"""

from __future__ import annotations

from model.kraft.add_voter_handler import needs_its_old_key_removed
from model.kraft.bounds import VOTER_CHANGES
from model.kraft.kraft_control_record_state_machine import key_is, voter_set
from model.kraft.state import FOLLOWER, Node, Quorum
from model.kraft.voter_changes import append_voters, require_changeable
from model.language import action, choose, not_, require, spend


def _remove(quorum: Quorum, leader: Node, voter: Node) -> None:
    """Append the VotersRecord without the voter; what was known of another directory is gone."""
    voters = voter_set(quorum, leader)
    require_changeable(quorum, leader)
    require(voters.contains(voter), voters.size > 1)

    spend(quorum, VOTER_CHANGES)
    known = choose(key_is(quorum, leader, voter), leader.fetched[voter], 0)
    append_voters(
        quorum,
        leader,
        voters.without_member(voter),
        leader.second_directories.without_member(voter),
    )
    leader.fetched[voter] = known


@action(
    "{leader} removes {voter} from the voter set",
    at="RemoveVoterHandler.handleRemoveVoterRequest",
    since="3.9.0",
    about="KIP-853",
    settings="kraft.version, reconfiguration.waits.for.epoch, one.change.at.a.time",
)
def leader_remove_voter(quorum: Quorum, leader: Node, voter: Node) -> None:
    """An operator's RemoveVoter request, which names the key that is in the voter set."""
    _remove(quorum, leader, voter)


@action(
    "{node} has its old directory removed from the voter set by {leader}",
    at="KafkaRaftClient.pollFollowerAsObserver",
    since="4.2.0",
    about="KIP-853, KAFKA-19078",
    settings="controller.quorum.auto.join.enable",
)
def observer_remove_old_key(quorum: Quorum, node: Node, leader: Node) -> None:
    """The node's own RemoveVoter request for its id with another directory."""
    require(quorum.options.auto_join, node != leader)
    require(node.role == FOLLOWER, node.leader == leader, node.epoch == leader.epoch)
    require(needs_its_old_key_removed(quorum, node), not_(key_is(quorum, leader, node)))
    _remove(quorum, leader, node)
