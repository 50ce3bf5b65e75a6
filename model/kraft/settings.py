"""The settings of a KRaft quorum: what an operator chooses, and a rule for each fix.

A rule names its KIP or issue. The defaults are those of Kafka 4.3 with `kraft.version` 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from model.kraft.bounds import NODES
from model.language import Role, setting


class KRaftVersion(StrEnum):
    """The finalized feature level `kraft.version`."""

    STATIC = "0"  # controller.quorum.voters: nodes by id, without directories
    DYNAMIC = "1"  # the voter set is in the log (KIP-853)


class LeaderRestarts(StrEnum):
    """What a node is after a restart that has led the epoch in its `quorum-state`."""

    LEADER = "leader"  # the leader, as if it had not stopped
    UNATTACHED = "unattached"  # it has forgotten that it led: it may vote in the epoch
    RESIGNED = "resigned"  # it neither leads the epoch nor votes in it


@dataclass(frozen=True)
class KRaftSettings:
    """What an operator chooses, and which rules and fixes the Kafka version has."""

    not_modelled: ClassVar[dict[str, str]] = {
        name: "there is no time in the model: a timeout may expire at any moment"
        for name in (
            "controller.quorum.election.timeout.ms",
            "controller.quorum.fetch.timeout.ms",
            "controller.quorum.election.backoff.max.ms",
            "controller.quorum.request.timeout.ms",
        )
    }

    kraft_version: KRaftVersion = setting(
        KRaftVersion.DYNAMIC,
        "the feature level: 1, the voter set is in the log; 0, it is configured",
        "kraft.version",
        at="KRaftVersion.isReconfigSupported",
        about="KIP-853",
        since="3.9.0",
        history="0 2.8.0, 1 3.9.0",
        evidence="`raft/` of 3.7.0 and 3.9.0-rc3",
        role=Role.OPERATOR,
        catalogue="110",
    )
    version_may_rise: bool = setting(
        True,
        "kraft.version may be raised from 0 to 1 while the quorum runs",
        "kraft.version.may.rise",
        at="LeaderState.maybeAppendUpgradedKRaftVersion",
        about="KIP-853, KAFKA-16538",
        history="false 2.8.0, true 4.1.0",
        evidence="`RaftClient` of 4.0.1 and 4.1.0",
    )
    observers: int = setting(
        0,
        "how many of the nodes are observers, not voters, in the initial state",
        "observers",
        high=NODES,
        role=Role.GIVEN,
    )
    auto_join: bool = setting(
        False,
        "an observer that is a controller asks the leader to add it as a voter",
        "controller.quorum.auto.join.enable",
        at="KafkaRaftClient.shouldSendAddOrRemoveVoterRequest",
        about="KIP-853, KAFKA-19078",
        since="4.2.0",
        role=Role.OPERATOR,
    )
    auto_join_once: bool = setting(
        False,
        "a controller whose log says that it was a voter does not have itself added",
        "auto.join.once",
        at="KafkaRaftClient.pollFollowerAsObserver",
        about="KAFKA-19850",
        fix=True,
        catalogue="105",
        history="false 4.2.0",
        evidence="`KafkaRaftClient` of 4.3.1",
    )
    pre_vote: bool = setting(
        True,
        "a node is Prospective first, and a Candidate only with a majority of pre-votes",
        "pre.vote",
        at="QuorumState.transitionToProspective",
        about="KIP-996",
        history="false 2.8.0, true 4.0.0",
        evidence="`KafkaRaftClient` of 3.9.1 and 4.0.1",
        catalogue="117",
    )
    vote_names_directory: bool = setting(
        True,
        "a vote names the candidate's directory id; else its node id alone",
        "vote.names.directory",
        at="QuorumState.unattachedOrProspectiveCanGrantVote",
        about="KIP-853",
        history="false 2.8.0, true 3.9.0",
        evidence="`VotedState` of 3.7.0, `UnattachedState` of 3.9.1",
    )
    vote_directory_kept: bool = setting(
        False,
        "quorum-state keeps the directory id of a vote with kraft.version 0 too",
        "quorum.state.names.directory",
        at="FileQuorumStateStore.writeElectionState",
        about="KAFKA-16526",
        fix=True,
        feature="kraft.version",
        catalogue="109",
        history="false 3.9.0",
        evidence="classes of 3.9.1; `FileQuorumStateStore` of 4.3.1",
    )
    resigned_stands_again: bool = setting(
        False,
        "a resigned voter becomes a Candidate; else it is Unattached in the next epoch",
        "resigned.stands.again",
        at="KafkaRaftClient.pollResigned",
        about="KIP-996",
        history="true 2.8.0, false 4.0.0",
        evidence="`KafkaRaftClient` of 3.7.0, 3.9.0-rc3 and 4.0.1",
    )
    reconfiguration_waits: bool = setting(
        True,
        "no voter is changed before a record of the leader's own epoch is committed",
        "reconfiguration.waits.for.epoch",
        at="AddVoterHandler.handleAddVoterRequest",
        about="KIP-853",
        since="3.9.0",
    )
    one_change_at_a_time: bool = setting(
        True,
        "no voter is changed while the last VotersRecord is not committed",
        "one.change.at.a.time",
        at="AddVoterHandler.handleAddVoterRequest",
        about="KIP-853",
        since="3.9.0",
    )
    added_voter_caught_up: bool = setting(
        True,
        "an observer is added once it has fetched a record of the leader's epoch; else at once",
        "added.voter.has.caught.up",
        at="LeaderState.isReplicaCaughtUp",
        about="KIP-853",
        since="3.9.0",
    )
    leader_not_counted: bool = setting(
        True,
        "a leader that was removed from the voters does not count for the high watermark",
        "removed.leader.is.not.counted",
        at="LeaderState.maybeUpdateHighWatermark",
        about="KAFKA-16530",
        since="3.9.0",
        catalogue="104",
    )
    control_records_skipped: bool = setting(
        True,
        "a committed control record is not the last stable offset, which a controller reverts to",
        "control.records.are.skipped",
        at="QuorumController.QuorumMetaLogListener.handleCommit",
        about="KAFKA-17608",
        since="3.9.0",
        catalogue="107",
    )
    fetch_offset_may_fall: bool = setting(
        True,
        "a leader accepts a fetch offset below the follower's last one",
        "fetch.offset.may.fall",
        at="LeaderState.updateReplicaState",
        about="KAFKA-12181",
        history="false 2.8.0, true 3.0.0",
        evidence="`LeaderState` of 2.8.2 and 3.0.0",
        catalogue="114",
    )
    truncation_rereads: bool = setting(
        False,
        "after a truncation, control records below the former log end offset are read",
        "truncation.rereads.control.records",
        at="KRaftControlRecordStateMachine.truncateNewEntries",
        about="finding 0022",
        fix=True,
        feature="kraft.version",
        catalogue="99",
        history="false 3.9.0",
        evidence="classes of 3.9.1 to 4.3.1",
    )
    snapshot_is_read: bool = setting(
        False,
        "a snapshot that replaces the log is read, even if `nextOffset` is beyond its end",
        "snapshot.is.always.read",
        at="KRaftControlRecordStateMachine.maybeLoadSnapshot",
        about="finding 0022",
        fix=True,
        feature="kraft.version",
        catalogue="102",
        history="false 3.9.0",
        evidence="classes of 3.9.1 to 4.3.1",
    )
    snapshot_of_earlier_epoch: bool = setting(
        False,
        "a follower loads its leader's snapshot even if its own last record is of a later epoch",
        "snapshot.of.earlier.epoch.is.taken",
        at="KafkaRaftLog.truncateToLatestSnapshot",
        about="finding 0024",
        fix=True,
        catalogue="103",
        history="false 3.0.0",
        evidence="`KafkaMetadataLog` of 3.0.0; classes of 3.9.1 to 4.3.1",
    )
    snapshot_keeps_voters: bool = setting(
        False,
        "a node that creates a snapshot keeps in memory the voter set that the snapshot has",
        "snapshot.keeps.earlier.voters",
        at="KafkaRaftClient.createSnapshot",
        about="finding 0026",
        fix=True,
        catalogue="124",
        history="false 3.9.0",
        evidence="classes of 3.9.1 to 4.3.1",
    )
    unknown_endpoints_taken: bool = setting(
        False,
        "a response that names a leader without endpoints is handled as if it named no leader",
        "unknown.endpoints.are.no.leader",
        at="KafkaRaftClient.maybeHandleCommonResponse",
        about="finding 0027",
        fix=True,
        catalogue="125",
        history="false 3.9.0",
        evidence="classes of 3.9.1 to 4.3.1",
    )
    snapshot_flushed: bool = setting(
        True,
        "a snapshot is flushed before it is renamed; else a power loss may lose the latest",
        "snapshot.is.flushed",
        at="FileRawSnapshotWriter.freeze",
        about="KAFKA-15312",
        history="false 2.8.0, true 3.5.2 3.6.0",
        evidence="`FileRawSnapshotWriter` of 3.5.1, 3.5.2 and 3.6.0",
        catalogue="115",
    )
    leader_counts_flushed: bool = setting(
        False,
        "the leader counts for the high watermark only what it has flushed",
        "leader.counts.what.is.flushed",
        at="KafkaRaftClient.flushLeaderLog",
        about="finding 0023",
        fix=True,
        catalogue="100",
        history="false 2.8.0",
        evidence="`KafkaRaftClient` of 2.8.0, 3.0.0, 3.7.0 and 3.9.1 to 4.3.1",
    )
    restart_flushes: bool = setting(
        False,
        "a node that restarts flushes its log before it fetches or votes",
        "restart.flushes.log",
        at="KafkaRaftClient.initialize",
        about="finding 0025",
        fix=True,
        catalogue="101",
        history="false 2.8.0",
        evidence="by the code; clusters and classes of 4.3.1",
    )
    leader_restarts: LeaderRestarts = setting(
        LeaderRestarts.RESIGNED,
        "the state in which a leader restarts, in the epoch that it led",
        "leader.restarts",
        at="QuorumState.initialize",
        about="KAFKA-10527, KAFKA-10661",
        since="2.8.0",
        catalogue="111, 112",
    )
    leader_commits_own_epoch: bool = setting(
        True,
        "a new high watermark must be above the leader's epoch start offset; else it may equal it",
        "high.watermark.exceeds.epoch.start",
        at="LeaderState.maybeUpdateHighWatermark",
        about="KIP-595, KAFKA-12619",
        since="2.8.0",
        catalogue="113",
    )
    follower_flushes: bool = setting(
        True,
        "a follower flushes what it appended before its next Fetch request",
        "follower.flushes.before.fetch",
        at="KafkaRaftClient.appendAsFollower",
        about="KIP-595, KAFKA-10533",
        since="2.8.0",
        catalogue="106",
    )
    observer_flushes: bool = setting(
        True,
        "an observer that is a controller flushes before its next Fetch request, too",
        "observer.flushes.before.fetch",
        at="KafkaRaftClient.appendAsFollower",
        about="KAFKA-13884, KAFKA-17332",
        history="true 2.8.0, false 3.5.0, true 3.9.0",
        evidence="`KafkaRaftClient` of 3.4.1, 3.5.0, 3.8.0 and 3.9.0-rc3",
        catalogue="116",
    )
    whole_fetches: bool = setting(
        True,
        "a Fetch response has all records up to the leader's log end; else one at a time",
        "whole.fetches",
        role=Role.FINENESS,
    )
    dead_values_are_blank: bool = setting(
        False,
        "fewer states: a value that no later step and no property reads is replaced by a blank",
        "dead.values.are.blank",
        role=Role.FINENESS,
    )
