"""`QuorumController`: what an active controller goes back to when it is active no more.

Its state in memory is ahead of the high watermark, so that it keeps one for each batch of records
that is not committed. When its leadership ends it goes back to the last of those that are.
"""

from __future__ import annotations

from model.kraft.state import Node, Quorum
from model.language import all_of, any_of, maximum, not_


def has_state_to_go_back_to(quorum: Quorum, node: Node) -> bool:
    """The controller has a state for what it takes for its last stable offset.

    It has none for a VotersRecord, which it did not write. Without `control.records.are.skipped`
    it takes one for that offset if nothing after it is committed, and its process ends.
    """
    if quorum.options.control_records_skipped:
        return True
    last = maximum(node.high_watermark - 1, 0)
    since_active = all_of(
        node.log[last].epoch == node.epoch, last > node.log.start_of_epoch(node.epoch)
    )
    return any_of(not_(since_active), node.log[last].voters.is_empty)
