"""KRaft as a protocol: all its events, in the order in which traces are compared."""

from __future__ import annotations

from model.kraft import (
    add_voter_handler,
    faults,
    kraft_version_upgrade,
    remove_voter_handler,
    update_voter_handler,
)
from model.kraft import kafka_raft_client_elections as elections
from model.kraft import kafka_raft_client_replication as replication
from model.kraft import kafka_raft_client_snapshots as snapshots
from model.kraft.bounds import BOUNDS
from model.kraft.dead_values import blanking
from model.kraft.fairness import CUT_BY, FAIRNESS
from model.kraft.initial_state import start
from model.kraft.presets import PRESETS
from model.kraft.settings import KRaftSettings
from model.kraft.state import Quorum
from model.language import Protocol, Telling

TELLING = Telling(
    leader="leader",
    leads="leads",
    epoch="epoch",
    mark="high_watermark",
    clients=("operator",),
    notes=("fetched",),
    words=((r"\bhigh watermark\b", "HW"), (r"^end$", "LEO")),
    end="LEO",
    entries="the epoch of each record, after its voters in a VotersRecord (missed: not read)",
    voters="voters",
    system="The KRaft quorum of Kafka",
)
"""What reports show of a quorum: nodes have lanes, and whoever acts is named first."""

ACTIONS = (
    replication.leader_append,
    replication.node_flush,
    replication.leader_count_flushed,
    replication.follower_fetch,
    replication.follower_fetch_in_vain,
    replication.follower_truncate,
    elections.node_time_out,
    elections.node_time_out_at_once,
    elections.prospective_stand,
    elections.prospective_give_up,
    elections.voter_grant_pre_vote,
    elections.voter_grant_vote,
    elections.candidate_become_leader,
    elections.node_hear_of_epoch,
    elections.leader_resign,
    elections.leader_resign_as_removed,
    elections.resigned_leave,
    elections.resigned_stand,
    add_voter_handler.leader_add_voter,
    add_voter_handler.observer_join,
    remove_voter_handler.leader_remove_voter,
    remove_voter_handler.observer_remove_old_key,
    update_voter_handler.leader_update_voter,
    kraft_version_upgrade.leader_note_directory,
    kraft_version_upgrade.leader_raise_version,
    snapshots.node_create_snapshot,
    snapshots.node_delete_before_snapshot,
    snapshots.follower_fetch_snapshot,
    faults.node_crash,
    faults.node_lose_power,
    faults.node_lose_disk,
)

KRAFT = Protocol(
    name="kraft",
    words="KRaft: the controllers elect leaders, replicate the metadata log, and change voters",
    source="Apache Kafka",
    state=Quorum,
    bounds=BOUNDS,
    telling=TELLING,
    settings=KRaftSettings,
    presets=PRESETS,
    start=start,
    fairness=FAIRNESS,
    cut_by=CUT_BY,
    views={
        "elections": ("nodes.role", "nodes.epoch", "nodes.leader", "nodes.voted"),
        "logs": ("nodes.log", "nodes.high_watermark"),
        "snapshots": ("nodes.snapshot_end", "nodes.log_start"),
        "faults": ("spent",),
    },
    actions=tuple(blanking(action) for action in ACTIONS),
)
