"""What no later step and no claim can tell apart, as one value: `dead.values.are.blank`.

A larger quorum has many states that differ in nothing else. Each rule below says why nobody asks.
With it off the state is what Kafka's classes have, and is compared with them. A claim about steps
does not see a high watermark fall within what all logs have. Where a disk may be lost or a snapshot
made, logs that are alike need not stay so, and the rules about them do nothing.

A flush is a step only as long as power may be lost: once no loss is left it does not matter what is
flushed. This rule alone leaves steps out, so that traces may be shorter by those flushes.
"""

from __future__ import annotations

from dataclasses import replace
from functools import wraps
from typing import Any

from model.kraft.bounds import (
    DISK_LOSSES,
    EPOCHS,
    LOG_SIZE,
    POWER_LOSSES,
    SNAPSHOTS,
    VOTER_CHANGES,
)
from model.kraft.kraft_control_record_state_machine import keeps_cursor, voter_set
from model.kraft.leader_state import is_established
from model.kraft.state import (
    CANDIDATE,
    FOLLOWER,
    LEADER,
    RESIGNED,
    UNATTACHED,
    Node,
    Offset,
    Quorum,
)
from model.kraft.voter_set import is_majority
from model.language import (
    all_of,
    any_of,
    choose,
    every,
    implies,
    largest,
    not_,
    smallest,
    some,
)
from model.language.action import Action


def blanking(action: Action) -> Action:
    """The action, after which what is dead is blank if the setting says so."""
    step = action.function

    @wraps(step)
    def with_blanks(quorum: Quorum, *arguments: Any) -> None:
        step(quorum, *arguments)
        if quorum.options.dead_values_are_blank:
            blank_dead_values(quorum)

    return replace(action, function=with_blanks)


def blank_dead_values(quorum: Quorum) -> None:
    """All rules, each on what the ones before it have left."""
    _flushes(quorum)
    _leaders_of_epochs(quorum)
    _votes_of_epochs(quorum)
    _votes_that_suffice(quorum)
    _last_epoch(quorum)
    if quorum.options.pre_vote:
        _nodes_left_behind(quorum)
    if quorum.options.fetch_offset_may_fall and quorum.options.leader_commits_own_epoch:
        _fetch_offsets(quorum)
    if quorum.options.control_records_skipped and quorum.options.leader_commits_own_epoch:
        _what_all_logs_have(quorum)


def _flushes(quorum: Quorum) -> None:
    """No power loss is left: what a node has appended need not be flushed."""
    left = quorum.spent.power_losses < quorum.bound(POWER_LOSSES)
    for node in quorum.nodes:
        node.unflushed = choose(left, node.unflushed, 0)
        node.flushing = all_of(left, node.flushing)


def _disks_stay(quorum: Quorum) -> bool:
    """No node comes back with an earlier epoch or log."""
    return quorum.bound(DISK_LOSSES) == 0


def _may_stand_in(node: Node, epoch: int) -> bool:
    """The node may be a candidate in the epoch: it is one, is one after a start, or is behind."""
    stands = any_of(node.role == CANDIDATE, node.voted == node)
    return any_of(node.epoch < epoch, all_of(node.epoch == epoch, stands))


def _leaders_of_epochs(quorum: Quorum) -> None:
    """Nobody is elected any more in an epoch in which no node may stand."""
    for row in quorum.epochs:
        over = not_(some(_may_stand_in(node, row.number) for node in quorum.nodes))
        row.leader = choose(all_of(_disks_stay(quorum), over), None, row.leader)


def _votes_of_epochs(quorum: Quorum) -> None:
    """A vote for another counts as long as any node but the voter may stand in its epoch."""
    asked = quorum.nodes.where(
        lambda node: some(
            all_of(other != node, _may_stand_in(other, node.epoch)) for other in quorum.nodes
        )
    )
    for node in quorum.nodes:
        dead = all_of(_disks_stay(quorum), node.voted != node, not_(asked.contains(node)))
        node.voted = choose(dead, None, node.voted)


def _votes_that_suffice(quorum: Quorum) -> None:
    """Of a majority of votes it does not matter whose they are: as if all voters had granted."""
    for node in quorum.nodes:
        voters = voter_set(quorum, node)
        node.votes = choose(is_majority(voters, node.votes), voters, node.votes)


def _last_epoch(quorum: Quorum) -> None:
    """Nobody asks for a pre-vote where no epoch is left: as if all followers had fetched."""
    for node in quorum.nodes:
        last = all_of(node.role == FOLLOWER, node.epoch == quorum.bound(EPOCHS))
        node.has_fetched = any_of(node.has_fetched, last)


def _nodes_left_behind(quorum: Quorum) -> None:
    """A node in an earlier epoch than all others gets no vote there, and nobody hears it.

    Unless it leads, has led, has a majority already, or may come to be the only voter.
    """
    behind = quorum.nodes.where(
        lambda node: every(
            implies(other != node, other.epoch > node.epoch) for other in quorum.nodes
        )
    )
    for node in quorum.nodes:
        counts = any_of(
            node.role == LEADER,
            node.role == RESIGNED,
            node.leader == node,
            is_majority(voter_set(quorum, node), node.votes),
            quorum.static_voters == quorum.nodes.only(node),
            some(
                all_of(node.log.has(p), node.log[p].voters == quorum.nodes.only(node))
                for p in node.log.positions
            ),
        )
        dead = all_of(_disks_stay(quorum), behind.contains(node), not_(counts))
        node.role = choose(dead, UNATTACHED, node.role)
        node.epoch = choose(dead, node.log.last_epoch, node.epoch)
        node.leader = choose(dead, None, node.leader)
        node.voted = choose(dead, None, node.voted)
        node.votes = choose(dead, quorum.nodes.none(), node.votes)
        node.has_fetched = all_of(not_(dead), node.has_fetched)
        node.leader_unfound = all_of(not_(dead), node.leader_unfound)


def _fetch_offsets(quorum: Quorum) -> None:
    """A leader need not know what is up to its epoch's start, nor how far up to its high watermark.

    Nor what an observer has, once no voter is changed any more. But where power may be lost, it
    answers before its flush who has waited at the end of its log.
    """
    loses = quorum.spent.power_losses < quorum.bound(POWER_LOSSES)
    changes = quorum.spent.voter_changes < quorum.bound(VOTER_CHANGES)
    for leader in quorum.nodes:
        start = leader.log.start_of_epoch(leader.epoch)
        end = choose(leader.flushing, leader.log.end - 1, leader.log.end)
        voters = voter_set(quorum, leader)
        for node in quorum.nodes:
            offset = leader.fetched[node]
            below = choose(offset <= leader.high_watermark, start + 1, offset)
            needed = choose(any_of(changes, voters.contains(node)), below, 0)
            waits = all_of(loses, offset >= end)
            leader.fetched[node] = choose(offset <= start, 0, choose(waits, offset, needed))


def settled_end(quorum: Quorum) -> Offset:
    """How many records all nodes have alike on disk: whoever leads has them, so that they stay.

    Not where another record was committed before, as claims have to see that.
    """
    return smallest(
        choose(
            every(
                all_of(
                    one.flushed_end > row.number,
                    any_of(row.epoch == 0, one.log[row.number].epoch == row.epoch),
                    one.log[row.number].epoch == other.log[row.number].epoch,
                    one.log[row.number].voters == other.log[row.number].voters,
                    one.log[row.number].second == other.log[row.number].second,
                )
                for one in quorum.nodes
                for other in quorum.nodes
            ),
            quorum.bound(LOG_SIZE),
            row.number,
        )
        for row in quorum.committed
    )


def _what_all_logs_have(quorum: Quorum) -> None:
    """Records that all nodes have are as good as committed, and no high watermark is above them.

    Of their VotersRecords nobody goes back before the last.
    """
    stays = all_of(_disks_stay(quorum), quorum.bound(SNAPSHOTS) == 0)
    settled = choose(stays, settled_end(quorum), 0)
    for node in quorum.nodes:
        leads = all_of(node.leads, is_established(quorum, node))
        dead = all_of(node.high_watermark <= settled, not_(leads))
        node.high_watermark = choose(dead, 0, node.high_watermark)
    for row in quorum.committed:
        epoch = largest(node.log[row.number].epoch for node in quorum.nodes)
        row.epoch = choose(row.number < settled, epoch, row.epoch)
    options = quorum.options
    if keeps_cursor(quorum) or options.auto_join or not options.pre_vote:
        return
    for node in quorum.nodes:
        log = node.log
        last = largest(
            choose(all_of(p < settled, not_(log[p].voters.is_empty)), p, 0) for p in log.positions
        )
        for p in log.positions:
            log[p].voters = choose(p < last, quorum.nodes.none(), log[p].voters)
            log[p].second = choose(p < last, quorum.nodes.none(), log[p].second)
