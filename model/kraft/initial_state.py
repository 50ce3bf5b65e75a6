"""Where it begins: a quorum at work, led in its first epoch."""

from __future__ import annotations

from model.kraft.dead_values import blank_dead_values
from model.kraft.kraft_control_record_state_machine import begins_static
from model.kraft.state import FOLLOWER, LEADER, UNATTACHED, Quorum
from model.language import choose


def start(quorum: Quorum) -> None:
    """The first node leads epoch 1; all voters have its VotersRecord. Observers have nothing."""
    leader = quorum.nodes[0]
    voters = quorum.nodes.all()
    for k in range(quorum.options.observers):
        voters = voters.without_member(quorum.nodes[k + 1])
    if begins_static(quorum):
        quorum.static_voters = voters
    for node in quorum.nodes:
        there = voters.contains(node)
        follows = choose(there, FOLLOWER, UNATTACHED)
        node.role = choose(node == leader, LEADER, follows)
        node.epoch = choose(there, 1, 0)
        node.leader = choose(there, leader, None)
        node.has_fetched = choose(node == leader, False, there)
        node.high_watermark = choose(there, 1, 0)
        leader.fetched[node] = choose(node == leader, 0, choose(there, 1, 0))
        node.log.extend_to(choose(there, 1, 0))
        first = node.log[0]
        first.epoch = choose(there, 1, 0)
        if not begins_static(quorum):
            first.voters = choose(there, voters, quorum.nodes.none())
    quorum.committed[0].epoch = 1
    quorum.committed_in = 1
    quorum.epochs[1].leader = leader
    if quorum.options.dead_values_are_blank:
        blank_dead_values(quorum)
