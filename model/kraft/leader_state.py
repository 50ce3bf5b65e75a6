"""`LeaderState`: the fetch offsets that a leader knows, and the high watermark that follows."""

from __future__ import annotations

from model.kraft.kraft_control_record_state_machine import voter_set
from model.kraft.state import Node, Offset, Quorum
from model.language import SetOf, all_of, any_of, choose, largest, maximum

Voters = SetOf[Node]


def own_offset(quorum: Quorum, leader: Node) -> int:
    """How far the leader counts itself: to its log's end, before it has flushed."""
    return leader.flushed_end if quorum.options.leader_counts_flushed else leader.log.end


def is_established(quorum: Quorum, leader: Node) -> bool:
    """The leader has a high watermark: a record of its own epoch is committed."""
    return _is_enough(quorum, leader, leader.high_watermark)


def _is_enough(quorum: Quorum, leader: Node, mark: Offset) -> bool:
    """A high watermark that the leader may have: its epoch's first record is below it."""
    start = leader.log.start_of_epoch(leader.epoch)
    return mark > start if quorum.options.leader_commits_own_epoch else mark >= start


def takes_fetch_offset(quorum: Quorum, leader: Node, node: Node) -> bool:
    """The leader takes the node's fetch offset. If not, its poll thread ends with an exception."""
    return quorum.options.fetch_offset_may_fall or node.log.end >= leader.fetched[node]


def _reached(quorum: Quorum, leader: Node, voters: Voters, offset: int) -> bool:
    """A majority of the voters is at the offset or beyond."""
    own = own_offset(quorum, leader)
    there = quorum.nodes.where(
        lambda each: any_of(leader.fetched[each] >= offset, all_of(each == leader, own >= offset))
    )
    if quorum.options.leader_not_counted:
        there = there.intersection(voters)
    else:
        there = there.intersection(voters.with_member(leader))
    return there.size + there.size > voters.size


def update_high_watermark(quorum: Quorum, leader: Node) -> None:
    """`maybeUpdateHighWatermark`: the offset that a majority has, if the leader's epoch is in.

    Ghosts: what is below it has been committed, and in which epoch.
    """
    voters = voter_set(quorum, leader)
    reached = largest(
        choose(all_of(leader.log.has(p), _reached(quorum, leader, voters, p + 1)), p + 1, 0)
        for p in leader.log.positions
    )
    enough = _is_enough(quorum, leader, reached)
    mark = choose(enough, maximum(reached, leader.high_watermark), leader.high_watermark)
    grows = mark > leader.high_watermark
    leader.high_watermark = mark
    _note_committed(quorum, leader, mark, grows)


def _note_committed(quorum: Quorum, leader: Node, mark: Offset, grows: bool) -> None:
    """What is committed for the first time at its offset."""
    for row in quorum.committed:
        first = all_of(row.epoch == 0, row.number < mark, grows)
        row.epoch = choose(first, leader.log[row.number].epoch, row.epoch)
    quorum.committed_in = choose(
        grows, maximum(quorum.committed_in, leader.epoch), quorum.committed_in
    )
