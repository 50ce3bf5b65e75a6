"""`KafkaRaftClient`, snapshots: a node makes one, drops the log before it, a follower fetches it.

A snapshot has its node's voter set. It is flushed before it has its name.
"""

from __future__ import annotations

from model.kraft.bounds import SNAPSHOTS
from model.kraft.kafka_raft_client_replication import follows
from model.kraft.kafka_raft_log import is_sent_snapshot, takes_snapshot
from model.kraft.kraft_control_record_state_machine import (
    load_snapshot,
    truncate_old_entries,
)
from model.kraft.state import Node, Offset, Quorum
from model.language import action, maximum, require, spend


@action(
    "{node} makes a snapshot that ends at offset {end}",
    at="KafkaRaftLog.createNewSnapshot",
    since="3.0.0",
    about="KIP-630",
    settings="snapshot.keeps.earlier.voters",
)
def node_create_snapshot(quorum: Quorum, node: Node, end: Offset) -> None:
    """At its high watermark or below: what the controller has handled by now.

    A node with stale voters makes none here: `missed` says what a snapshot lacks, not what else it
    has.
    """
    require(end > node.snapshot_end, end <= node.high_watermark)
    require(node.stale_voters.is_empty)

    spend(quorum, SNAPSHOTS)
    truncate_old_entries(quorum, node, end)
    node.snapshot_end = end


@action(
    "{node} deletes what is before its snapshot: its log starts at offset {node.snapshot_end}",
    at="KafkaRaftLog.deleteBeforeSnapshot",
    since="3.0.0",
    about="KIP-630",
)
def node_delete_before_snapshot(quorum: Quorum, node: Node) -> None:
    """By size or age, at any moment; earlier snapshots go, too.

    A node that has restarted does not until it has a high watermark.
    """
    require(quorum.makes_snapshots, node.log_start < node.snapshot_end)
    require(node.snapshot_end <= node.high_watermark)

    node.log_start = node.snapshot_end


@action(
    "{node} fetches the snapshot of {leader}, and truncates its log fully",
    at="KafkaRaftClient.handleFetchSnapshotResponse",
    since="3.0.0",
    about="KIP-630",
    settings="snapshot.is.always.read, snapshot.of.earlier.epoch.is.taken",
)
def follower_fetch_snapshot(quorum: Quorum, node: Node, leader: Node) -> None:
    """The leader's Fetch response names its latest snapshot, and notes no offset of the node."""
    require(quorum.makes_snapshots, node != leader, follows(node, leader), leader.is_free)
    require(is_sent_snapshot(node, leader), takes_snapshot(quorum, node, leader))

    load_snapshot(quorum, node, leader)
    node.snapshot_end = leader.snapshot_end
    node.log_start = leader.snapshot_end
    node.high_watermark = maximum(node.high_watermark, leader.snapshot_end)
    node.unflushed = 0
    node.has_fetched = True
