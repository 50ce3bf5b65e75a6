"""The model `kraft` and Kafka's controllers: which models, what is compared, what is passed over.

`java/kraft/RaftNumbers.java` reads each row.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from checker.kafka.conformance.rows import Row
from checker.kafka.releases.jars import at_least
from model.kraft.kraft_control_record_state_machine import voter_set
from model.kraft.protocol import KRAFT
from model.kraft.quorum_state import wins_alone
from model.kraft.settings import KRaftSettings, KRaftVersion
from model.kraft.state import Quorum
from model.language import Model, some
from model.language.declare.history import version_of
from model.language.declare.settings import of_release

Varied = tuple[tuple[Mapping[str, int], Mapping[str, str]], ...]
"""Bounds and settings, of one model each."""

AUTO_JOIN = "controller.quorum.auto.join.enable"
AUTO_JOIN_SINCE = "4.2.0"
CHOSEN = ("observers", "kraft.version", "whole.fetches", AUTO_JOIN)
"""What an operator chooses, or how the model looks at things: no release's own."""

RECORD_BY_RECORD = {"whole.fetches": "false"}
"""As a log is read whose records have a segment each; only whole segments are deleted."""

STATIC = {"kraft.version": "0"}
RISING: Mapping[str, int] = {"version_upgrades": 1, "voter_changes": 1}
RISES_SINCE = "4.1.0"

TABLE = (
    Row("nodes.role", "the class of QuorumState.state"),
    Row("nodes.epoch", "QuorumState.epoch"),
    Row("nodes.leader", "ElectionState.leaderId"),
    Row("nodes.voted", "ElectionState.votedKey, where no leader is known"),
    Row("nodes.voted_directory", "the directory of that key, by the one that the node has now"),
    Row("nodes.votes", "EpochElection.grantingVoters, and responses that wait to be read"),
    Row("nodes.has_fetched", "FollowerState.hasFetchedFromLeader", since="4.0.0"),
    Row("nodes.log.end", "RaftLog.endOffset"),
    Row("nodes.log.epoch", "partitionLeaderEpoch of the batches in the log's segments"),
    Row("nodes.log.voters", "the VotersRecords there: ids"),
    Row("nodes.log.second", "the VotersRecords there: directory ids"),
    Row("nodes.log.missed", "VotersRecords that VoterSetHistory does not have"),
    Row("nodes.unflushed", "the log's end less that at the last RaftLog.flush, or what is left"),
    Row("nodes.flushing", "a RaftLog.flush is held back"),
    Row("nodes.next_offset", "KRaftControlRecordStateMachine.nextOffset beyond the log's end"),
    Row("nodes.high_watermark", "RaftLog.highWatermark"),
    Row("nodes.fetched", "ReplicaState.endOffset of a leader's voters and observers"),
    Row("nodes.told", "LeaderState.volatileVoters with a directory", since="4.1.0"),
    Row("nodes.told_second", "those with their second one", since="4.1.0"),
    Row("nodes.second_directory", "the node's directory id"),
    Row("nodes.snapshot_end", "the end of RaftLog.latestSnapshotId"),
    Row("nodes.log_start", "RaftLog.startOffset"),
    Row(
        "a node's voter set",
        "KRaftControlRecordStateMachine.lastVoterSet: ids",
        contains=lambda quorum, of, node: voter_set(quorum, quorum.nodes[of]).contains(
            quorum.nodes[node]
        ),
        of="nodes",
    ),
    Row(
        "those with another directory",
        "KRaftControlRecordStateMachine.lastVoterSet: directory ids",
        contains=lambda quorum, of, node: quorum.nodes[of].second_directories.contains(
            quorum.nodes[node]
        ),
        of="nodes",
    ),
)
TOLD = ("nodes.told", "nodes.told_second")
IN_THE_LOG = ("nodes.log.voters", "nodes.log.second", "those with another directory")
"""Rows that `kraft.version` 0 has not: voters are configured there, by id alone."""

NOT_COMPARED = {
    "static_voters": "what a quorum begins with",
    "committed": "a ghost",
    "committed_in": "a ghost",
    "epochs": "a ghost",
    "rejoined": "a ghost",
    "spent": "the budgets of faults",
    "nodes.leader_unfound": "by what a node becomes after its pre-vote",
    "nodes.voted_for_lost": "a ghost",
    "nodes.stale_voters": "by a node's voter set",
    "nodes.stale_second": "by a node's voter set",
    "nodes.voters_dropped": "by a node's voter set",
}
"""Variables that no row reads, with the reason."""

AT_ONCE = frozenset({"candidate_become_leader"})
"""What a node that is the only voter does in the step in which it comes to stand."""

WALKED: Mapping[str, int] = {
    "nodes": 3,
    "log_size": 8,
    "epochs": 7,
    "appends": 3,
    "voter_changes": 3,
    "crashes": 2,
    "disk_losses": 1,
    "resignations": 2,
}
VARIED: Varied = (
    ({}, {}),
    ({"power_losses": 2}, {}),
    ({}, {"observers": "1"}),
    ({"nodes": 4}, {"observers": "2"}),
    ({"snapshots": 2}, RECORD_BY_RECORD),
    ({"snapshots": 2, "power_losses": 1}, RECORD_BY_RECORD),
    ({}, STATIC),
    (RISING, STATIC),
)
"""What walks take in turn, unless it is chosen."""

HOW_OFTEN: Mapping[str, float] = {
    "node_time_out": 0.1,
    "node_time_out_at_once": 0.1,
    "prospective_give_up": 0.02,
    "node_hear_of_epoch": 0.5,
    "follower_fetch_in_vain": 0.3,
    "follower_truncate": 10,
    "leader_add_voter": 10,
    "leader_resign": 0.1,
    "node_crash": 0.1,
    "node_lose_power": 0.1,
    "node_lose_disk": 0.05,
}
"""Else walks are mostly timeouts, and whatever may fail has failed in their first steps."""

COVERED: Mapping[str, int] = {
    "nodes": 2,
    "log_size": 3,
    "epochs": 2,
    "appends": 0,
    "voter_changes": 0,
}
GRAPHS: Varied = (
    ({"appends": 1}, {}),
    ({"voter_changes": 1}, {}),
    ({"crashes": 1}, {}),
    ({"power_losses": 1, "appends": 1}, {}),
    ({"disk_losses": 1}, {}),
    ({"resignations": 1}, {}),
    ({"snapshots": 1, "crashes": 1}, RECORD_BY_RECORD),
    ({"disk_losses": 1}, STATIC),
    (RISING, STATIC),
)
"""What is covered in a graph of its own, with what settings, unless it is chosen."""


def settings_of(version: str) -> dict[str, Any]:
    """The settings of a release, with voters in the log."""
    return dict(of_release(KRaftSettings, version_of(version)))


def fitting(settings: Mapping[str, Any], version: str) -> dict[str, Any]:
    """Settings as a release can have them."""
    return {**settings, **({} if at_least(version, AUTO_JOIN_SINCE) else {AUTO_JOIN: "false"})}


def _offered(varied: Varied, version: str) -> Varied:
    """Without those that the release has no step for."""
    rises = at_least(version, RISES_SINCE)
    return tuple(each for each in varied if rises or "version_upgrades" not in each[0])


def models(
    version: str, bounds: Mapping[str, int], chosen: Mapping[str, Any], preset: str | None = None
) -> list[Model]:
    """The models whose walks are compared with a release, each with other settings."""
    base = dict(KRAFT.preset(preset)) if preset else settings_of(version)
    found = []
    for sizes, settings in _offered(VARIED, version):
        if any(name in chosen for name in settings) and settings:
            continue
        found.append(KRAFT.model({**WALKED, **sizes, **bounds}, {**base, **settings, **chosen}))
    if at_least(version, AUTO_JOIN_SINCE) and not chosen:
        joins = {AUTO_JOIN: "true", "observers": "1"}
        found.append(KRAFT.model({**WALKED, **bounds}, {**base, **joins}))
    return found


def covered_models(
    version: str, bounds: Mapping[str, int], chosen: Mapping[str, Any], preset: str | None = None
) -> list[Model]:
    """The models whose graphs are covered: one for each of `GRAPHS`, unless some are given."""
    base = dict(KRAFT.preset(preset)) if preset else settings_of(version)
    budgets = {name for graph, _ in GRAPHS for name in graph}
    none = dict.fromkeys(budgets, 0)
    if budgets & bounds.keys():
        return [KRAFT.model({**none, **COVERED, **bounds}, {**base, **chosen})]
    return [
        KRAFT.model({**none, **COVERED, **graph, **bounds}, {**base, **settings, **chosen})
        for graph, settings in _offered(GRAPHS, version)
        if not settings.keys() & chosen.keys()
    ]


def rows(model: Model, version: str) -> list[Row]:
    """What is compared on a release."""
    rises = model.bounds["version_upgrades"] > 0
    static = model.settings.kraft_version == KRaftVersion.STATIC
    left_out: tuple[str, ...] = IN_THE_LOG if static and not rises else ()
    if not (static and rises):
        left_out += TOLD
    if not (model.bounds["disk_losses"] and model.settings.vote_names_directory):
        left_out += ("nodes.voted_directory",)
    return [row for row in TABLE if at_least(version, row.since) and row.variable not in left_out]


def passed_over(quorum: Quorum) -> bool:
    """A node that is the only voter leads in the step in which it comes to stand."""
    return some(wins_alone(quorum, node) for node in quorum.nodes)
