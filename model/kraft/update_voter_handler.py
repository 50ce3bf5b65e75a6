"""`UpdateVoterHandler`: a voter's endpoints or versions change, and its key does not."""

from __future__ import annotations

from model.kraft.bounds import VOTER_CHANGES
from model.kraft.kraft_control_record_state_machine import is_voter, voter_set
from model.kraft.state import FOLLOWER, Node, Quorum
from model.kraft.voter_changes import append_voters, require_changeable
from model.language import action, require, spend


@action(
    "{leader} updates {voter} in the voter set",
    at="UpdateVoterHandler.handleUpdateVoterRequest",
    since="3.9.0",
    about="KIP-853",
    settings="kraft.version, reconfiguration.waits.for.epoch, one.change.at.a.time",
)
def leader_update_voter(quorum: Quorum, leader: Node, voter: Node) -> None:
    """A VotersRecord with the same voters: endpoints are not in the model."""
    require(leader != voter, voter.role == FOLLOWER, voter.leader == leader)
    require(voter.epoch == leader.epoch)
    require_changeable(quorum, leader)
    require(is_voter(quorum, leader, voter))

    spend(quorum, VOTER_CHANGES)
    append_voters(quorum, leader, voter_set(quorum, leader), leader.second_directories)
