"""`KRaftVersionUpgrade`: `kraft.version` is raised from 0 to 1 while the quorum runs (4.1).

Each voter tells every leader its directory, which the leader keeps in memory; once it knows all,
an operator may have it append a KRaftVersionRecord and a VotersRecord, which are one record here.
"""

from __future__ import annotations

from model.kraft.bounds import VERSION_UPGRADES
from model.kraft.kraft_control_record_state_machine import append, is_static, may_rise
from model.kraft.leader_state import is_established, update_high_watermark
from model.kraft.state import FOLLOWER, Node, Quorum
from model.language import action, all_of, any_of, choose, every, implies, not_, require, spend


@action(
    "{voter} tells {leader} its directory",
    at="UpdateVoterHandler.handleUpdateVoterRequest",
    since="4.1.0",
    about="KIP-853, KAFKA-16538",
    settings="kraft.version, kraft.version.may.rise",
)
def leader_note_directory(quorum: Quorum, leader: Node, voter: Node) -> None:
    """An UpdateVoter request, which each voter sends to every leader as long as it has read 0."""
    require(may_rise(quorum), quorum.bound(VERSION_UPGRADES) > 0, leader != voter)
    require(voter.role == FOLLOWER, voter.leader == leader, voter.epoch == leader.epoch)
    require(leader.leads, leader.is_free, voter.is_free, is_established(quorum, leader))
    require(is_static(quorum, leader), is_static(quorum, voter))
    require(quorum.static_voters.contains(voter))
    known = leader.told_second.contains(voter) == voter.second_directory
    require(not_(all_of(leader.told.contains(voter), known)))

    leader.told = leader.told.with_member(voter)
    with_second = leader.told_second.with_member(voter)
    leader.told_second = choose(voter.second_directory, with_second, leader.told_second)


@action(
    "{leader} raises kraft.version to 1",
    at="LeaderState.maybeAppendUpgradedKRaftVersion",
    since="4.1.0",
    about="KIP-853, KAFKA-16538",
    settings="kraft.version, kraft.version.may.rise",
)
def leader_raise_version(quorum: Quorum, leader: Node) -> None:
    """An operator's UpdateFeatures request: voters are what the leader was told, by directory.

    Not where a snapshot may be left unread, or drop voters: a node's voter set would be that which
    is configured.
    """
    require(may_rise(quorum), leader.leads, leader.is_free, not_(leader.log.is_full))
    require(is_static(quorum, leader))
    if not (quorum.options.snapshot_is_read and quorum.options.snapshot_keeps_voters):
        require(not_(quorum.makes_snapshots))
    require(
        every(
            implies(
                quorum.static_voters.contains(node),
                any_of(node == leader, leader.told.contains(node)),
            )
            for node in quorum.nodes
        )
    )

    spend(quorum, VERSION_UPGRADES)
    told = leader.told_second
    second = choose(leader.second_directory, told.with_member(leader), told)
    leader.told = quorum.nodes.none()
    leader.told_second = quorum.nodes.none()
    append(quorum, leader, leader.epoch, quorum.static_voters, second)
    update_high_watermark(quorum, leader)
