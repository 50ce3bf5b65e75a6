"""What may happen to a controller: its process dies, it loses power, it loses its disk.

A stop and the start after it are one step: a node that is down does nothing, as one that is up may.
"""

from __future__ import annotations

from model.kraft.bounds import CRASHES, DISK_LOSSES, POWER_LOSSES
from model.kraft.kraft_control_record_state_machine import read_all, voter_set
from model.kraft.quorum_state import (
    disk_is_lost,
    initialize,
    read_vote,
    require_room_to_start,
    to_unattached,
)
from model.kraft.state import Node, Quorum
from model.language import action, choose, maximum, not_, require, spend


def _start(quorum: Quorum, node: Node) -> None:
    """`KafkaRaftClient.initialize`: read the log, then `quorum-state`; the rest is forgotten."""
    if quorum.options.restart_flushes:
        node.unflushed = 0
    node.flushing = False
    node.high_watermark = 0
    read_vote(quorum, node)
    read_all(quorum, node)
    initialize(quorum, node)


@action(
    "{node} crashes and restarts",
    at="KafkaRaftClient.initialize",
    since="2.8.0",
    about="KIP-595",
    settings="restart.flushes.log, leader.restarts",
)
def node_crash(quorum: Quorum, node: Node) -> None:
    """The process dies. What it has written and not flushed is in the page cache."""
    require_room_to_start(quorum, node)

    spend(quorum, CRASHES)
    _start(quorum, node)


@action(
    "{node} loses power and restarts",
    at="LogLoader.recoverLog",
    since="2.8.0",
    about="KIP-595",
    settings="snapshot.is.flushed, leader.restarts",
)
def node_lose_power(quorum: Quorum, node: Node) -> None:
    """What is not flushed is gone. `quorum-state` is there: it is flushed as it is written.

    So is a snapshot: a log that ends before it begins again at its end. Without
    `snapshot.is.flushed` its file is empty, whenever it was made.
    """
    require_room_to_start(quorum, node)

    spend(quorum, POWER_LOSSES)
    if not quorum.options.snapshot_flushed:
        node.snapshot_end = 0
    end = maximum(node.flushed_end, node.snapshot_end)
    node.log_start = choose(node.flushed_end < end, node.snapshot_end, node.log_start)
    node.log.truncate_to(end)
    node.unflushed = 0
    _start(quorum, node)


@action(
    "{node} loses its disk, is formatted and restarts",
    at="StorageTool.runFormatCommand",
    since="2.8.0",
    about="KIP-853",
    settings="kraft.version, vote.names.directory",
)
def node_lose_disk(quorum: Quorum, node: Node) -> None:
    """An empty log, no `quorum-state`, another directory id: no voter by `kraft.version` 1.

    Leaders know observers by id and directory, and have not heard of the new one.
    """
    require(not_(node.second_directory))

    spend(quorum, DISK_LOSSES)
    node.log.truncate_to(0)
    node.snapshot_end = 0
    node.log_start = 0
    read_all(quorum, node)
    node.unflushed = 0
    node.flushing = False
    node.high_watermark = 0
    to_unattached(quorum, node, 0)
    node.second_directory = True
    initialize(quorum, node)
    disk_is_lost(quorum, node)
    for leader in quorum.nodes:
        known = voter_set(quorum, leader).contains(node)
        leader.fetched[node] = choose(known, leader.fetched[node], 0)
