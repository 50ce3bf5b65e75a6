"""What `AddVoterHandler`, `RemoveVoterHandler` and `UpdateVoterHandler` have in common.

What waits for its commit needs no state: the request may time out at any moment, so that only the
log can hold another one off.
"""

from __future__ import annotations

from model.kraft.kraft_control_record_state_machine import (
    append,
    is_static,
    voter_set,
)
from model.kraft.leader_state import is_established, update_high_watermark
from model.kraft.state import Node, Quorum
from model.language import SetOf, not_, require


def require_changeable(quorum: Quorum, leader: Node) -> None:
    """The leader may change voters: its epoch and the last VotersRecord are committed."""
    require(not_(is_static(quorum, leader)))
    require(leader.leads, leader.is_free, not_(leader.log.is_full))
    require(not_(voter_set(quorum, leader).is_empty))
    if quorum.options.reconfiguration_waits:
        require(is_established(quorum, leader))
    if quorum.options.one_change_at_a_time:
        require(leader.last_read_offset < leader.high_watermark)


def append_voters(quorum: Quorum, leader: Node, voters: SetOf[Node], second: SetOf[Node]) -> None:
    """Append a VotersRecord, by which the leader goes at once."""
    append(quorum, leader, leader.epoch, voters, second)
    update_high_watermark(quorum, leader)
