"""`KafkaRaftLog`, with snapshots: when a leader sends one, and when a follower takes it (KIP-630).

The bootstrap checkpoint, of offset 0, is the earliest snapshot until another is. A node's whole log
stays in the state: below `log_start` it is what the snapshot has.
"""

from __future__ import annotations

from model.kraft.state import Node, Quorum
from model.language import all_of, any_of


def is_sent_snapshot(node: Node, leader: Node) -> bool:
    """`validateOffsetAndEpoch`: the response to the node's Fetch request names a snapshot.

    The node's log ends before the leader's begins, or at its start in another epoch, or its last
    epoch is before that of the leader's earliest snapshot. An empty log is sent any snapshot but
    the bootstrap checkpoint.
    """
    start, end = leader.log_start, node.log.end
    earliest, last = leader.log.epoch_before(start), node.log.last_epoch
    behind = any_of(end < start, all_of(end == start, last != earliest), last < earliest)
    return any_of(all_of(start > 0, behind), all_of(end == 0, leader.snapshot_end > 0))


def takes_snapshot(quorum: Quorum, node: Node, leader: Node) -> bool:
    """`truncateToLatestSnapshot`: the leader's latest snapshot is beyond the node's log.

    If not, the node's poll thread ends with an exception, and its process with it. It has stored
    the snapshot, so that it does not ask for that one again.
    """
    if quorum.options.snapshot_of_earlier_epoch:
        return True
    epoch, last = leader.log.epoch_before(leader.snapshot_end), node.log.last_epoch
    return any_of(epoch > last, all_of(epoch == last, leader.snapshot_end > node.log.end))
