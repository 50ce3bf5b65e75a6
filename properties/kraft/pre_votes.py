"""KIP-996: who cannot win an election does not start one, so that a working leader leads on.

A node stands once a majority of the voters, by its own voter set, has granted it a pre-vote. A
leader refuses it, a follower that has fetched from its leader, and whoever has more in its log. Not
promised: that a follower refuses before its first Fetch response, or once its own fetch timeout has
expired; that what was granted is taken back. Nor is anything while a voter is older than 4.0.0: a
node that is told UNSUPPORTED_VERSION stands at once.
"""

from __future__ import annotations

from model.kraft.kraft_control_record_state_machine import is_voter, voter_set
from model.kraft.leader_state import is_established
from model.kraft.state import CANDIDATE, FOLLOWER, PROSPECTIVE, Node, Quorum
from model.kraft.voter_set import is_majority
from model.language import Model, all_of, any_of, every, implies, not_, some
from properties.claims import always
from properties.kraft.availability import has_voters_in_the_log, leads_latest


def has_pre_votes(model: Model) -> bool:
    """The release has KIP-996."""
    return bool(model.settings.pre_vote)


def _is_granted(quorum: Quorum, node: Node) -> bool:
    """A majority of the voters, by the node's own voter set, has granted it what it asks for."""
    return is_majority(voter_set(quorum, node), node.votes)


def _stands(before: Quorum, after: Quorum, node: Node) -> bool:
    """The node starts an election, or gets the last pre-vote that it needs for one.

    Pre-votes that it was granted before may still be used, once.
    """
    now, may = after.nodes[node], all_of(node.role == PROSPECTIVE, _is_granted(before, node))
    starts = all_of(now.role == CANDIDATE, now.epoch > node.epoch)
    gets = all_of(now.role == PROSPECTIVE, _is_granted(after, now))
    return all_of(any_of(starts, gets), not_(may))


def is_removed(quorum: Quorum, node: Node) -> bool:
    """The leader of the latest epoch has committed its last VotersRecord, which lacks the node."""
    return some(
        all_of(
            leader != node,
            leads_latest(quorum, leader),
            is_established(quorum, leader),
            leader.last_read_offset < leader.high_watermark,
            not_(voter_set(quorum, leader).contains(node)),
        )
        for leader in quorum.nodes
    )


@always(
    "a_removed_voter_starts_no_election",
    "a voter starts no election once its removal is committed",
    of_steps=True,
    failure="{node}, whose removal is committed, starts an election: a working leader's epoch ends",
    breach="lets a removed voter start an election",
    broken_by="kraft pre.vote=false",
    promised=lambda model: has_voters_in_the_log(model) and has_pre_votes(model),
)
def a_removed_voter_starts_no_election(before: Quorum, after: Quorum) -> bool:
    """It does not know that it was removed.

    A voter may grant before that record reaches it, and may lose the disk that holds it.
    """
    return every(
        not_(
            all_of(
                is_removed(before, node),
                _stands(before, after, node),
                every(
                    implies(
                        node.votes.contains(each),
                        all_of(is_voter(before, node, each), node.log.is_at_least(each.log)),
                    )
                    for each in before.nodes
                ),
            )
        )
        for node in before.nodes
    )


def hears(node: Node) -> bool:
    """The node leads, or has fetched from the leader that it follows."""
    return any_of(node.leads, all_of(node.role == FOLLOWER, node.has_fetched))


def cannot_win(quorum: Quorum, node: Node) -> bool:
    """Of the voters, by the node's own voter set, too few are left that would grant a pre-vote.

    The others hear a leader of the node's epoch, are in a later one, or have more in their logs.
    """
    voters = voter_set(quorum, node)
    left = quorum.nodes.where(
        lambda each: any_of(
            each == node,
            node.votes.contains(each),
            all_of(
                each.epoch <= node.epoch,
                not_(all_of(each.epoch == node.epoch, hears(each))),
                node.log.is_at_least(each.log),
            ),
        )
    )
    return not_(is_majority(voters, left))


@always(
    "who_cannot_win_starts_no_election",
    "a node starts no election while a majority of the voters would refuse it",
    of_steps=True,
    failure="{node} starts an election that it cannot win",
    breach="lets a controller start an election that it cannot win",
    broken_by="kraft pre.vote=false",
    premise=lambda q: some(
        all_of(node.role == PROSPECTIVE, cannot_win(q, node)) for node in q.nodes
    ),
    promised=has_pre_votes,
)
def who_cannot_win_starts_no_election(before: Quorum, after: Quorum) -> bool:
    """Its log is behind, or the others hear their leader.

    Who loses power may lose its last VotersRecord, and with another voter set win.
    """
    return every(
        not_(
            all_of(
                cannot_win(before, node),
                _stands(before, after, node),
                voter_set(before, node) == voter_set(after, after.nodes[node]),
            )
        )
        for node in before.nodes
    )


def is_heard(quorum: Quorum, leader: Node, node: Node) -> bool:
    """The leader of the latest epoch, and a majority of its voters hears it, without the node.

    Not who has fetched from it in an earlier epoch, and does not know that it leads again.
    """
    heard_by = quorum.nodes.where(
        lambda each: all_of(
            each != node, each.epoch == leader.epoch, each.leader == leader, hears(each)
        )
    )
    return all_of(
        leader != node,
        leads_latest(quorum, leader),
        is_majority(voter_set(quorum, leader), heard_by),
        heard_by.intersection(node.votes).is_empty,
    )


@always(
    "a_leader_that_is_heard_is_not_disturbed",
    "nobody starts an election while a majority of the other voters hears the leader",
    of_steps=True,
    failure="{node} starts an election, although a majority of the others hears {leader}",
    breach="lets a controller disturb a leader that a majority hears",
    broken_by="kraft pre.vote=false",
    premise=lambda q: some(
        all_of(node.role == PROSPECTIVE, is_heard(q, leader, node))
        for leader in q.nodes
        for node in q.nodes
    ),
    promised=has_pre_votes,
)
def a_leader_that_is_heard_is_not_disturbed(before: Quorum, after: Quorum) -> bool:
    """The majority is of the leader's voter set; the node itself may have another."""
    return every(
        not_(all_of(is_heard(before, leader, node), _stands(before, after, node)))
        for leader in before.nodes
        for node in before.nodes
    )
