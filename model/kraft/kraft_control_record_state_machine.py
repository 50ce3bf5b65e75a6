"""`KRaftControlRecordStateMachine`: which VotersRecords a node has read: its voter set.

`updateState` reads from its cursor, `nextOffset`, to the end of the log. A truncation takes the
records from the history, and leaves the cursor: what is appended below it is never read. With
`truncation.rereads.control.records` the cursor goes back with the log. A snapshot that replaces the
log is read if the cursor is below its end, or with `snapshot.is.always.read`. A start reads the
latest snapshot and all records after it.

A node that makes a snapshot drops what is before the last VotersRecord up to its end, end included
(`TreeMapLogHistory.truncateOldEntries`). One at the end is not in the snapshot, and may be
truncated: then the node's voter set is empty. With `snapshot.keeps.earlier.voters` it drops what is
before the last VotersRecord that the snapshot has.
"""

from __future__ import annotations

from model.kraft.settings import KRaftVersion
from model.kraft.state import NO_OFFSET, Node, Quorum
from model.language import SetOf, all_of, any_of, choose, maximum, minimum, not_, some


def begins_static(quorum: Quorum) -> bool:
    """Voters are configured at first."""
    return bool(quorum.options.kraft_version == KRaftVersion.STATIC)


def is_static(quorum: Quorum, node: Node) -> bool:
    """Voters are configured, and known by id alone, for all that the node has read."""
    if may_rise(quorum):
        return not_(node.has_read_voters)
    return begins_static(quorum)


def voter_set(quorum: Quorum, node: Node) -> SetOf[Node]:
    """The node's voter set, by id: `lastVoterSet`, committed or not."""
    if not begins_static(quorum):
        return node.voters
    return choose(is_static(quorum, node), quorum.static_voters, node.voters)


def truncate_old_entries(quorum: Quorum, node: Node, end: int) -> None:
    """A snapshot that ends at `end`, as it has its name: what is before is dropped from memory.

    What was dropped before is in no snapshot: `missed`. A VotersRecord that is committed stays, so
    that nobody asks for those before it.
    """
    if quorum.options.snapshot_keeps_voters:
        return
    for p in node.log.positions:
        dropped = all_of(node.voters_dropped, p < node.snapshot_end)
        lacks = all_of(dropped, not_(node.log[p].voters.is_empty))
        node.log[p].missed = any_of(node.log[p].missed, lacks)
    node.voters_dropped = some(
        all_of(
            p == end, node.log.has(p), not_(node.log[p].voters.is_empty), not_(node.log[p].missed)
        )
        for p in node.log.positions
    )


def key_is(quorum: Quorum, node: Node, voter: Node) -> bool:
    """The key that the node has for the voter is its id with its directory of now."""
    same = node.second_directories.contains(voter) == voter.second_directory
    return any_of(is_static(quorum, node), same)


def is_voter(quorum: Quorum, node: Node, other: Node) -> bool:
    """`VoterSet.isVoter` of the other's id and directory, by the node's voter set."""
    return all_of(voter_set(quorum, node).contains(other), key_is(quorum, node, other))


def is_missed(quorum: Quorum, node: Node, offset: int) -> bool:
    """A VotersRecord that the node appends at the offset is below its cursor.

    Where voters were configured, the first comes in one batch with a KRaftVersionRecord before it.
    """
    offset = offset + 1 if may_rise(quorum) else offset
    return offset < node.next_offset if keeps_cursor(quorum) else False


def may_rise(quorum: Quorum) -> bool:
    """Voters are configured at first, and `kraft.version` may be raised."""
    return begins_static(quorum) and bool(quorum.options.version_may_rise)


def _end(quorum: Quorum, node: Node) -> int:
    """The end of the node's log, as its cursor counts."""
    if not may_rise(quorum):
        return node.log.end
    return choose(node.log.last_voters_offset == NO_OFFSET, node.log.end, node.log.end + 1)


def keeps_cursor(quorum: Quorum) -> bool:
    """The cursor may be beyond the end of the log."""
    return not (quorum.options.truncation_rereads and quorum.options.snapshot_is_read)


def append(
    quorum: Quorum, node: Node, epoch: int, voters: SetOf[Node], second: SetOf[Node]
) -> None:
    """Append a record to the node's log, and read it if it is a VotersRecord (`updateState`)."""
    offset = node.log.end
    missed = all_of(is_missed(quorum, node, offset), not_(voters.is_empty))
    node.log.append(epoch=epoch, voters=voters, second=second, missed=missed)
    node.unflushed = choose(quorum.flushes, node.unflushed + 1, 0)
    node.flushing = quorum.flushes
    _settle(quorum, node, offset)


def append_from(quorum: Quorum, node: Node, leader: Node, end: int) -> None:
    """Append the leader's records up to the offset `end`, and read the VotersRecords among them."""
    start = node.log.end
    if quorum.options.observer_flushes:
        flushes: bool = True
    else:
        flushes = is_voter(quorum, node, node)
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
        node.flushing = all_of(quorum.flushes, end > start, flushes)
    _settle(quorum, node, start)


def _settle(quorum: Quorum, node: Node, start: int) -> None:
    """After an append at `start`: the cursor is blank where the log's end has come up with it."""
    if keeps_cursor(quorum):
        node.next_offset = choose(_end(quorum, node) >= node.next_offset, 0, node.next_offset)
    if not quorum.options.snapshot_is_read:
        _go_by_what_is_read(quorum, node, node.last_read_offset >= start)


def _go_by_what_is_read(quorum: Quorum, node: Node, where: bool) -> None:
    """What the node has read last is no longer stale."""
    node.stale_voters = choose(where, quorum.nodes.none(), node.stale_voters)
    node.stale_second = choose(where, quorum.nodes.none(), node.stale_second)


def truncate(quorum: Quorum, node: Node, offset: int) -> None:
    """Truncate the log (`truncateNewEntries`): records leave the history, the cursor may stay."""
    if not quorum.options.truncation_rereads:
        node.next_offset = maximum(node.next_offset, _end(quorum, node))
    elif keeps_cursor(quorum):
        node.next_offset = 0
    node.unflushed = choose(quorum.flushes, maximum(0, offset - node.flushed_end), 0)
    node.log.truncate_to(offset)


def load_snapshot(quorum: Quorum, node: Node, leader: Node) -> None:
    """The leader's latest snapshot replaces the log; the node reads it, or goes on as it was.

    `maybeLoadSnapshot` reads it if the cursor is below the log's new start. If not, the node keeps
    its history of voters, and what is appended below the cursor is not read either. Of that history
    the last voter set is state here.
    """
    end = leader.snapshot_end
    if not quorum.options.snapshot_is_read:
        _keep_history(quorum, node, leader, end)
    else:
        node.voters_dropped = False
        if keeps_cursor(quorum):
            node.next_offset = 0
    node.log.truncate_to(minimum(node.log.end, end))
    node.log.extend_to(end)
    for p in node.log.positions:
        mine, theirs, where = node.log[p], leader.log[p], p < end
        mine.epoch = choose(where, theirs.epoch, mine.epoch)
        mine.voters = choose(where, theirs.voters, mine.voters)
        mine.second = choose(where, theirs.second, mine.second)
        mine.missed = choose(where, theirs.missed, mine.missed)


def _keep_history(quorum: Quorum, node: Node, leader: Node, end: int) -> None:
    """Where the snapshot is not read: the cursor, and the voters if the snapshot has others."""
    cursor = maximum(node.next_offset, node.log.end)
    voters, second = node.voters, node.second_directories
    last = leader.last_read_before(end)
    says = leader.log[maximum(last, 0)]
    same = all_of(last >= 0, says.voters == voters, says.second == second)
    reads = any_of(not_(quorum.makes_snapshots), cursor < end)
    node.next_offset = choose(any_of(reads, cursor == end), 0, cursor)
    node.voters_dropped = all_of(not_(reads), node.voters_dropped, voters.is_empty)
    node.stale_voters = choose(any_of(reads, same), quorum.nodes.none(), voters)
    node.stale_second = choose(any_of(reads, same), quorum.nodes.none(), second)


def read_all(quorum: Quorum, node: Node) -> None:
    """A start: `initialize` reads the latest snapshot and the log from its end on."""
    for p in node.log.positions:
        node.log[p].missed = all_of(node.log[p].missed, p < node.snapshot_end)
    node.next_offset = 0
    node.voters_dropped = False
    _go_by_what_is_read(quorum, node, True)
