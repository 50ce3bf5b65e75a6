"""`KafkaRaftClient`, elections: timeouts, Vote requests, who leads, who resigns.

A vote is granted and counted in one step; that a majority is counted is a step of its own, so that
the last response may be late. `node_hear_of_epoch` stands for all by which a node learns of a
later epoch, or of its epoch's leader: BeginQuorumEpoch and EndQuorumEpoch requests, responses with
an error, Vote requests that are refused. An only voter asks nobody: it stands and leads at once.
"""

from __future__ import annotations

from model.kraft.bounds import EPOCHS, RESIGNATIONS
from model.kraft.kraft_control_record_state_machine import (
    append,
    is_voter,
    voter_set,
)
from model.kraft.leader_state import is_established, update_high_watermark
from model.kraft.quorum_state import (
    after_election_loss,
    is_only_voter,
    may_stand,
    to_candidate,
    to_leader,
    to_prospective,
    to_resigned,
    to_unattached,
    wins_alone,
)
from model.kraft.state import (
    CANDIDATE,
    FOLLOWER,
    LEADER,
    PROSPECTIVE,
    RESIGNED,
    UNATTACHED,
    Node,
    Quorum,
    VotedDirectory,
)
from model.kraft.voter_set import is_majority
from model.language import action, all_of, any_of, choose, is_none, not_, require, some, spend


def _require_room_for_an_epoch(quorum: Quorum, node: Node) -> None:
    require(node.epoch < quorum.bound(EPOCHS))


def waits_for_an_election(quorum: Quorum, node: Node) -> bool:
    """A timeout may start an election: the node is a voter, and neither leader nor Prospective."""
    waits = any_of(node.role == UNATTACHED, node.role == FOLLOWER, node.role == CANDIDATE)
    return all_of(waits, may_stand(quorum, node), not_(wins_alone(quorum, node)))


@action(
    "{node} becomes prospective: it has a fetch or election timeout",
    at="KafkaRaftClient.transitionToProspective",
    since="4.0.0",
    about="KIP-996",
    settings="pre.vote",
)
def node_time_out(quorum: Quorum, node: Node) -> None:
    """A voter's fetch or election timeout expires: it asks for pre-votes in its own epoch."""
    require(quorum.options.pre_vote, waits_for_an_election(quorum, node), node.is_free)
    require(not_(is_only_voter(quorum, node)))
    _require_room_for_an_epoch(quorum, node)

    to_prospective(quorum, node)


@action(
    "{node} becomes a candidate in the next epoch: it has a fetch or election timeout",
    at="KafkaRaftClient.transitionToCandidate",
    since="2.8.0",
    about="KIP-595",
    settings="pre.vote",
)
def node_time_out_at_once(quorum: Quorum, node: Node) -> None:
    """Without pre-votes, or as the only voter, it is a Candidate of the next epoch at once."""
    require(waits_for_an_election(quorum, node), node.is_free)
    if quorum.options.pre_vote:
        require(is_only_voter(quorum, node))
    _require_room_for_an_epoch(quorum, node)

    to_candidate(quorum, node)


@action(
    "{node} becomes a candidate in the next epoch: a majority would vote for it",
    at="KafkaRaftClient.maybeTransitionToCandidate",
    since="4.0.0",
    about="KIP-996",
    settings="pre.vote",
)
def prospective_stand(quorum: Quorum, node: Node) -> None:
    """The pre-votes suffice."""
    require(node.role == PROSPECTIVE, may_stand(quorum, node))
    require(is_majority(voter_set(quorum, node), node.votes))
    _require_room_for_an_epoch(quorum, node)

    to_candidate(quorum, node)


@action(
    "{node} gives up its pre-vote",
    at="KafkaRaftClient.prospectiveTransitionAfterElectionLoss",
    since="4.0.0",
    about="KIP-996",
    settings="pre.vote",
)
def prospective_give_up(quorum: Quorum, node: Node) -> None:
    """A majority refuses, or the election timeout expires: it follows its leader again, if any."""
    require(node.role == PROSPECTIVE)

    after_election_loss(quorum, node)


def _grants(node: Node, voter: Node, is_pre_vote: bool) -> bool:
    """`canGrantVote` of the voter's state, for a node of no earlier epoch."""
    later = node.epoch > voter.epoch
    up_to_date = node.log.is_at_least(voter.log)
    if is_pre_vote:
        follows = all_of(voter.role == FOLLOWER, voter.has_fetched)
        return all_of(up_to_date, any_of(later, not_(any_of(voter.role == LEADER, follows))))
    open_state = any_of(voter.role == UNATTACHED, voter.role == PROSPECTIVE)
    free = all_of(is_none(voter.voted), is_none(voter.leader), up_to_date)
    voted = all_of(voter.voted == node, voter.voted_directory != VotedDirectory.LOST)
    in_epoch = all_of(open_state, any_of(voted, free))
    return choose(later, up_to_date, in_epoch)


def require_vote_request(quorum: Quorum, node: Node, voter: Node) -> None:
    require(node != voter, node.epoch >= voter.epoch)
    require(voter.is_free, not_(wins_alone(quorum, voter)))
    require(voter_set(quorum, node).contains(voter), is_voter(quorum, node, voter))
    if not quorum.options.dead_values_are_blank:
        require(not_(node.votes.contains(voter)))


@action(
    "{voter} grants {node} the pre-vote that it asks for",
    at="KafkaRaftClient.handleVoteRequest",
    since="4.0.0",
    about="KIP-996",
    settings="pre.vote",
)
def voter_grant_pre_vote(quorum: Quorum, node: Node, voter: Node) -> None:
    """A Vote request with preVote, and its response; the voter notes nothing but a later epoch.

    A response that names the leader of the epoch makes a node that knows of none its follower,
    whatever else it says: `node_hear_of_epoch`.
    """
    require(node.role == PROSPECTIVE)
    require_vote_request(quorum, node, voter)
    names_leader = all_of(voter.epoch == node.epoch, not_(is_none(voter.leader)))
    require(not_(all_of(names_leader, is_none(node.leader))))
    require(_grants(node, voter, is_pre_vote=True))

    follow_epoch(quorum, node, voter)
    node.votes = node.votes.with_member(voter)


@action(
    "{voter} votes for {node}",
    at="KafkaRaftClient.handleVoteRequest",
    since="2.8.0",
    about="KIP-595",
    settings="vote.names.directory",
)
def voter_grant_vote(quorum: Quorum, node: Node, voter: Node) -> None:
    """A Vote request and its response: the voter writes its vote to `quorum-state` first.

    A Prospective voter begins to ask for pre-votes then, but not where it has voted so before.
    """
    require(node.role == CANDIDATE)
    require_vote_request(quorum, node, voter)
    require(_grants(node, voter, is_pre_vote=False))

    follow_epoch(quorum, node, voter)
    begins = all_of(voter.role == PROSPECTIVE, voter.voted != node)
    voter.votes = choose(begins, quorum.nodes.only(voter), voter.votes)
    voter.voted = node
    node.votes = node.votes.with_member(voter)


def follow_epoch(quorum: Quorum, node: Node, voter: Node) -> None:
    """A Vote request of a later epoch makes whoever gets it Unattached in that epoch."""
    later = node.epoch > voter.epoch
    voter.role = choose(later, UNATTACHED, voter.role)
    voter.leader = choose(later, None, voter.leader)
    voter.voted = choose(later, None, voter.voted)
    voter.voted_directory = choose(later, VotedDirectory.OF_NOW, voter.voted_directory)
    voter.voted_for_lost = all_of(not_(later), voter.voted_for_lost)
    voter.votes = choose(later, quorum.nodes.none(), voter.votes)
    voter.has_fetched = all_of(not_(later), voter.has_fetched)
    voter.leader_unfound = all_of(not_(later), voter.leader_unfound)
    voter.told = choose(later, quorum.nodes.none(), voter.told)
    voter.told_second = choose(later, quorum.nodes.none(), voter.told_second)
    for other in quorum.nodes:
        voter.fetched[other] = choose(later, 0, voter.fetched[other])
    voter.epoch = node.epoch


@action(
    "{node} becomes the leader of epoch {node.epoch}",
    at="KafkaRaftClient.onBecomeLeader",
    since="2.8.0",
    about="KIP-595",
)
def candidate_become_leader(quorum: Quorum, node: Node) -> None:
    """The votes suffice: the leader appends the LeaderChange record, before it hears anybody."""
    require(node.role == CANDIDATE, may_stand(quorum, node), node.is_free)
    require(is_majority(voter_set(quorum, node), node.votes))
    require(not_(node.log.is_full))

    to_leader(quorum, node)
    append(quorum, node, node.epoch, quorum.nodes.none(), quorum.nodes.none())
    update_high_watermark(quorum, node)


def may_hear(quorum: Quorum, node: Node, other: Node) -> bool:
    """The other knows of a later epoch than the node, or of who leads their epoch."""
    busy = any_of(wins_alone(quorum, node), wins_alone(quorum, other))
    news = all_of(is_none(node.leader), not_(is_none(other.leader)))
    newer = any_of(other.epoch > node.epoch, all_of(other.epoch == node.epoch, news))
    return all_of(node != other, node.is_free, not_(busy), newer, not_(other.leader == node))


def finds_leader(quorum: Quorum, node: Node, other: Node) -> bool:
    """The endpoints of the other's leader are in its response, or in the node's own voter set."""
    among_voters = some(
        all_of(other.leader == each, voter_set(quorum, node).contains(each))
        for each in quorum.nodes
    )
    return any_of(other.knows_where, among_voters)


def may_find_leader(quorum: Quorum, node: Node, other: Node) -> bool:
    """The node has started again, and knows who leads; the other says where.

    A Prospective node reads that of the leader's BeginQuorumEpoch request alone: its pre-votes are
    of the same epoch, so that responses to them have no error.
    """
    same = all_of(other.epoch == node.epoch, other.leader == node.leader)
    lacks = all_of(not_(is_none(node.leader)), not_(node.knows_where))
    begins = all_of(other.leads, voter_set(quorum, other).contains(node))
    told = any_of(node.role != PROSPECTIVE, begins)
    return all_of(node != other, node.is_free, same, lacks, other.knows_where, told)


@action(
    "{node} hears from {other} of its epoch and leader",
    at="KafkaRaftClient.maybeTransition",
    since="2.8.0",
    about="KIP-595",
)
def node_hear_of_epoch(quorum: Quorum, node: Node, other: Node) -> None:
    """A later epoch, or its own epoch's leader: Follower of that leader, or Unattached.

    A node that has restarted may know the leader's id without endpoints. A node that hears of it
    then, and does not find the leader in its own voter set either, ends with an exception. With
    `unknown.endpoints.are.no.leader` it enters that epoch, and tries the next bootstrap server.
    """
    require(any_of(may_hear(quorum, node, other), may_find_leader(quorum, node, other)))
    finds = any_of(is_none(other.leader), finds_leader(quorum, node, other))
    if quorum.options.unknown_endpoints_taken:
        require(any_of(finds, other.epoch > node.epoch))
    else:
        require(finds)

    to_unattached(quorum, node, other.epoch)
    node.leader = choose(finds, other.leader, None)
    node.role = choose(is_none(node.leader), UNATTACHED, FOLLOWER)


@action(
    "{node} resigns as leader",
    at="KafkaRaftClient.transitionToResigned",
    since="2.8.0",
    about="KIP-595, KAFKA-15489",
)
def leader_resign(quorum: Quorum, node: Node) -> None:
    """It shuts down, is asked to (`resign`), or has no Fetch of a majority (check quorum)."""
    require(node.leads, node.is_free)

    spend(quorum, RESIGNATIONS)
    to_resigned(quorum, node)


@action(
    "{node} resigns as leader: its removal is committed",
    at="RemoveVoterHandler.highWatermarkUpdated",
    since="3.9.0",
    about="KIP-853",
)
def leader_resign_as_removed(quorum: Quorum, node: Node) -> None:
    """The leader is not in the voter set any more. If the removal timed out, it goes on."""
    require(node.leads, node.is_free, not_(is_voter(quorum, node, node)))
    require(node.log.last_voters_offset < node.high_watermark)
    require(is_established(quorum, node))

    to_resigned(quorum, node)


@action(
    "{node}, which has resigned, goes on to the next epoch",
    at="KafkaRaftClient.pollResigned",
    since="2.8.0",
    about="KIP-595",
    settings="resigned.stands.again",
)
def resigned_leave(quorum: Quorum, node: Node) -> None:
    """Its election timeout expires: a later epoch, so that nobody takes it for the leader."""
    require(node.role == RESIGNED)
    _require_room_for_an_epoch(quorum, node)
    if quorum.options.resigned_stands_again:
        require(not_(may_stand(quorum, node)))

    to_unattached(quorum, node, node.epoch + 1)


@action(
    "{node}, which has resigned, becomes a candidate",
    at="KafkaRaftClient.pollResigned",
    since="2.8.0",
    about="KIP-595",
    settings="resigned.stands.again",
)
def resigned_stand(quorum: Quorum, node: Node) -> None:
    """Up to 3.9 a voter that has resigned is a Candidate of the next epoch."""
    require(quorum.options.resigned_stands_again, node.role == RESIGNED, may_stand(quorum, node))
    _require_room_for_an_epoch(quorum, node)

    to_candidate(quorum, node)
