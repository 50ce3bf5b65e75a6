"""`QuorumState`: the transitions between a node's states, and what of them is on disk.

`quorum-state` is flushed whenever epoch, vote or leader change. Prospective and Resigned are in
memory only, and change none of these.
"""

from __future__ import annotations

from model.kraft.bounds import DISK_LOSSES, EPOCHS
from model.kraft.kraft_control_record_state_machine import (
    begins_static,
    is_static,
    is_voter,
    voter_set,
)
from model.kraft.settings import LeaderRestarts
from model.kraft.state import (
    CANDIDATE,
    FOLLOWER,
    LEADER,
    PROSPECTIVE,
    RESIGNED,
    UNATTACHED,
    EpochState,
    Node,
    Quorum,
    VotedDirectory,
)
from model.language import all_of, any_of, choose, implies, is_none, not_, require, some


def _after_leading(quorum: Quorum) -> EpochState:
    """What a node that led its epoch is after a start."""
    if quorum.options.leader_restarts == LeaderRestarts.LEADER:
        return LEADER
    return UNATTACHED if quorum.options.leader_restarts == LeaderRestarts.UNATTACHED else RESIGNED


def vote_for(node: Node, other: Node | None) -> None:
    """The node's vote in its epoch, of another directory than was voted for before."""
    node.voted = other
    node.voted_directory = VotedDirectory.OF_NOW
    node.voted_for_lost = False


def disk_is_lost(quorum: Quorum, node: Node) -> None:
    """A vote for the node was for the directory that is lost, unless it named none."""
    for voter in quorum.nodes:
        voter.voted_for_lost = any_of(voter.voted_for_lost, voter.voted == node)
    if not quorum.options.vote_names_directory:
        return
    for voter in quorum.nodes:
        was_any = voter.voted_directory == VotedDirectory.ANY
        now = choose(was_any, VotedDirectory.OF_NOW, VotedDirectory.LOST)
        voter.voted_directory = choose(voter.voted == node, now, voter.voted_directory)


def read_vote(quorum: Quorum, node: Node) -> None:
    """With `kraft.version` 0 `quorum-state` has the id that was voted for alone (KAFKA-16526)."""
    forgets = quorum.options.vote_names_directory and not quorum.options.vote_directory_kept
    if not (forgets and begins_static(quorum)):
        return
    may_lose = some(
        all_of(node.voted == each, node != each, not_(each.second_directory))
        for each in quorum.nodes
    )
    may_lose = all_of(quorum.bound(DISK_LOSSES) > 0, may_lose)
    any_disk = choose(may_lose, VotedDirectory.ANY, VotedDirectory.OF_NOW)
    node.voted_directory = choose(is_static(quorum, node), any_disk, node.voted_directory)


def _enter(quorum: Quorum, node: Node, role: EpochState) -> None:
    """Another state begins, with nothing of what the one before kept in memory."""
    node.role = role
    node.votes = quorum.nodes.none()
    node.has_fetched = False
    node.leader_unfound = False
    node.told = quorum.nodes.none()
    node.told_second = quorum.nodes.none()
    for other in quorum.nodes:
        node.fetched[other] = 0


def to_unattached(quorum: Quorum, node: Node, epoch: int) -> None:
    """A later epoch, of which no leader is known."""
    _enter(quorum, node, UNATTACHED)
    node.epoch = epoch
    vote_for(node, None)
    node.leader = None


def to_prospective(quorum: Quorum, node: Node) -> None:
    """The node asks for pre-votes; in memory only, epoch, vote and leader stay."""
    unfound = all_of(not_(is_none(node.leader)), not_(node.knows_where))
    _enter(quorum, node, PROSPECTIVE)
    node.leader_unfound = unfound
    node.votes = quorum.nodes.only(node)


def to_candidate(quorum: Quorum, node: Node) -> None:
    """The node votes for itself in the next epoch."""
    _enter(quorum, node, CANDIDATE)
    node.votes = quorum.nodes.only(node)
    node.epoch = node.epoch + 1
    vote_for(node, node)
    node.leader = None


def to_leader(quorum: Quorum, node: Node) -> None:
    """The node leads its epoch; a ghost notes it, and whether another has led the epoch."""
    _enter(quorum, node, LEADER)
    node.leader = node
    vote_for(node, None)
    row = quorum.epochs[node.epoch]
    row.another = any_of(row.another, not_(any_of(is_none(row.leader), row.leader == node)))
    row.leader = node


def to_resigned(quorum: Quorum, node: Node) -> None:
    """The leader gives its epoch up; in memory only."""
    _enter(quorum, node, RESIGNED)


def after_election_loss(quorum: Quorum, node: Node) -> None:
    """`prospectiveTransitionAfterElectionLoss`: back to the leader, if it knows where that is."""
    role = choose(node.knows_where, FOLLOWER, UNATTACHED)
    _enter(quorum, node, role)


def require_room_to_start(quorum: Quorum, node: Node) -> None:
    """A node that starts as the only voter needs an epoch for its election."""
    alone = some(
        all_of(node.log.has(p), node.log[p].voters == quorum.nodes.only(node))
        for p in node.log.positions
    )
    alone = any_of(alone, quorum.static_voters == quorum.nodes.only(node))
    require(implies(alone, node.epoch < quorum.bound(EPOCHS)))


def initialize(quorum: Quorum, node: Node) -> None:
    """A start: the state follows from `quorum-state`.

    A voter that has voted for itself is a candidate again; its votes are gone. Who led the epoch
    has resigned from it (`leader.restarts`). A leader that is not in the voter set of the node has
    no known endpoints. An only voter stands in the next epoch at once, whatever it was.
    """
    led = node.leader == node
    stood = node.voted == node
    voters = voter_set(quorum, node)
    follows = some(all_of(node.leader == other, voters.contains(other)) for other in quorum.nodes)
    _enter(quorum, node, UNATTACHED)
    stands_or_follows = choose(stood, CANDIDATE, choose(follows, FOLLOWER, UNATTACHED))
    node.role = choose(led, _after_leading(quorum), stands_or_follows)
    if quorum.options.leader_restarts == LeaderRestarts.UNATTACHED:
        node.leader = choose(led, None, node.leader)
    alone = all_of(is_only_voter(quorum, node), not_(stood))
    node.role = choose(alone, CANDIDATE, node.role)
    node.epoch = choose(alone, node.epoch + 1, node.epoch)
    node.leader = choose(alone, None, node.leader)
    node.voted = choose(alone, node, node.voted)
    node.voted_directory = choose(alone, VotedDirectory.OF_NOW, node.voted_directory)
    node.voted_for_lost = all_of(not_(alone), node.voted_for_lost)
    node.votes = choose(any_of(stood, alone), quorum.nodes.only(node), quorum.nodes.none())


def may_stand(quorum: Quorum, node: Node) -> bool:
    """The node is a voter in its own voter set, and can be elected."""
    return is_voter(quorum, node, node)


def is_only_voter(quorum: Quorum, node: Node) -> bool:
    """`isOnlyVoter`: by its own voter set the node's vote is a majority."""
    return all_of(voter_set(quorum, node) == quorum.nodes.only(node), may_stand(quorum, node))


def wins_alone(quorum: Quorum, node: Node) -> bool:
    """An only voter stands: its thread goes on until it leads, and handles nothing before."""
    return all_of(node.role == CANDIDATE, is_only_voter(quorum, node))
