"""`KRaftControlRecordStateMachine`: which VotersRecords a node has read, and whom it goes by.

`updateState` reads from its cursor, `nextOffset`, to the end of the log. A truncation takes the
records from the history, and leaves the cursor: what is appended below it is never read. With
`truncation.rereads.control.records` the cursor goes back with the log. A start reads all.
"""

from __future__ import annotations

from model.kraft.settings import KRaftVersion
from model.kraft.state import MetadataLog, Node, Quorum
from model.language import SetOf, all_of, choose, largest, maximum, not_

NO_OFFSET = -1


def is_static(quorum: Quorum) -> bool:
    """Voters are configured, and known by id alone."""
    return bool(quorum.options.kraft_version == KRaftVersion.STATIC)


def last_voters_offset(log: MetadataLog) -> int:
    """The offset of the last VotersRecord in a log, read or not; -1 if there is none."""
    return largest(
        choose(all_of(log.has(p), not_(log[p].voters.is_empty)), p, NO_OFFSET)
        for p in log.positions
    )


def last_read_offset(node: Node) -> int:
    """The offset of the last VotersRecord that the node has read; -1 if there is none."""
    log = node.log
    return largest(
        choose(all_of(log.has(p), not_(log[p].voters.is_empty), not_(log[p].missed)), p, NO_OFFSET)
        for p in log.positions
    )


def voter_set(quorum: Quorum, node: Node) -> SetOf[Node]:
    """The voters by id that the node goes by: `lastVoterSet`, committed or not."""
    if is_static(quorum):
        return quorum.static_voters
    return voters_at(node, last_read_offset(node))


def voters_at(node: Node, offset: int) -> SetOf[Node]:
    """The voters by id of the record at the offset; nobody for -1, where the log begins without."""
    return node.log[maximum(offset, 0)].voters


def key_is(quorum: Quorum, node: Node, voter: Node) -> bool:
    """The key that the node has for the voter is its id with its directory of now."""
    if is_static(quorum):
        return True
    offset = maximum(last_read_offset(node), 0)
    return node.log[offset].second.contains(voter) == voter.second_directory


def is_voter(quorum: Quorum, node: Node, other: Node) -> bool:
    """`VoterSet.isVoter` of the other's id and directory, by the set that the node goes by."""
    return all_of(voter_set(quorum, node).contains(other), key_is(quorum, node, other))


def is_missed(quorum: Quorum, node: Node, offset: int) -> bool:
    """A record that the node appends at the offset is below its cursor."""
    return False if quorum.options.truncation_rereads else offset < node.next_offset


def append(
    quorum: Quorum, node: Node, epoch: int, voters: SetOf[Node], second: SetOf[Node]
) -> None:
    """Append a record to the node's log, and read it if it is a VotersRecord (`updateState`)."""
    offset = node.log.end
    missed = all_of(is_missed(quorum, node, offset), not_(voters.is_empty))
    node.log.append(epoch=epoch, voters=voters, second=second, missed=missed)
    node.unflushed = choose(quorum.flushes, node.unflushed + 1, 0)
    node.flushing = quorum.flushes
    settle(quorum, node)


def append_from(quorum: Quorum, node: Node, leader: Node, end: int) -> None:
    """Append the leader's records up to the offset `end`, and read the VotersRecords among them."""
    start = node.log.end
    node.log.extend_to(end)
    for p in node.log.positions:
        mine, entry = node.log[p], leader.log[p]
        where = all_of(p >= start, p < end)
        missed = all_of(is_missed(quorum, node, p), not_(entry.voters.is_empty))
        mine.epoch = choose(where, entry.epoch, mine.epoch)
        mine.voters = choose(where, entry.voters, mine.voters)
        mine.second = choose(where, entry.second, mine.second)
        mine.missed = choose(where, missed, mine.missed)
    node.unflushed = choose(quorum.flushes, node.unflushed + end - start, 0)
    if quorum.options.follower_flushes:
        node.flushing = all_of(quorum.flushes, end > start)
    settle(quorum, node)


def settle(quorum: Quorum, node: Node) -> None:
    """The cursor is blank where the log's end has come up with it."""
    if not quorum.options.truncation_rereads:
        node.next_offset = choose(node.log.end >= node.next_offset, 0, node.next_offset)


def truncate(quorum: Quorum, node: Node, offset: int) -> None:
    """Truncate the log (`truncateNewEntries`): records leave the history, the cursor may stay."""
    if not quorum.options.truncation_rereads:
        node.next_offset = maximum(node.next_offset, node.log.end)
    node.unflushed = choose(quorum.flushes, maximum(0, offset - node.flushed_end), 0)
    node.log.truncate_to(offset)


def read_all(node: Node) -> None:
    """A start: `initialize` reads the whole log."""
    for p in node.log.positions:
        node.log[p].missed = False
    node.next_offset = 0
