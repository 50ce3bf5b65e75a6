"""The rules of what is on disk: leader epochs, the log, its start."""

from __future__ import annotations

from dataclasses import dataclass

from model.kafka.choices import (
    EpochCache,
    EpochFile,
    LogFile,
    LogStartFile,
)
from model.kafka.settings.whose import Whose
from model.language import Role, setting


@dataclass(frozen=True)
class DiskRules:
    """What a broker has of its log, and of its leader epochs, after it stopped."""

    epoch_cache: EpochCache = setting(
        EpochCache.LOG,
        "where brokers look up leader epochs: in the log, or in a cache kept as its own state",
        "epoch.cache",
        at="LeaderEpochFileCache.endOffsetFor",
        about="KIP-101",
        since="0.11.0",
        role=Role.FINENESS,
    )
    leader_enters_epoch: bool = setting(
        True,
        "a leader enters its epoch in the cache before it has a record of it",
        "leader.enters.epoch",
        at="Partition.makeLeader",
        about="KAFKA-7415",
        history="false 0.8.2, true 2.0.1 2.1.0",
        evidence="PR 5678: sources of 2.0.0, 2.0.1, 2.1.0",
        catalogue="7",
        owner=Whose.LEADER,
    )
    truncation_at_end_clears: bool = setting(
        True,
        "truncation to the log's end takes epochs without records out of the cache",
        "truncation.at.end.clears.epochs",
        at="UnifiedLog.truncateTo",
        about="KAFKA-10706",
        history="false 0.8.2, true 2.6.1 2.7.0",
        evidence="PR 9633: sources of 2.6.0, 2.6.1, 2.7.0",
        catalogue="13",
        owner=Whose.FOLLOWER,
    )
    empty_answer_keeps_epoch: bool = setting(
        True,
        "an empty fetch response leaves the last fetched epoch as it is",
        "empty.answer.keeps.fetched.epoch",
        at="AbstractFetcherThread.processFetchRequest",
        about="KAFKA-15510",
        history="true 0.8.2, false 3.5.1, true 3.7.0",
        evidence="PR 13843, PR 14457: sources of 3.5.0, 3.5.1, 3.5.2, 3.6.2, 3.7.0",
        catalogue="16",
        owner=Whose.FOLLOWER,
    )
    epoch_file: EpochFile = setting(
        EpochFile.LATER,
        "when epochs that leave the cache are deleted from the file leader-epoch-checkpoint",
        "epoch.file",
        at="LeaderEpochFileCache.truncateFromEndAsyncFlush",
        about="KAFKA-15046, KAFKA-16541",
        history="at_once 0.8.2, unsynced 3.7.0, later 3.8.0",
        evidence="PR 14242, PR 15993: sources of 3.6.2, 3.7.0, 3.7.2, 3.8.0",
        catalogue="33",
        owner=Whose.FOLLOWER,
    )
    log_file: LogFile = setting(
        LogFile.AT_ONCE,
        "when a truncation is on disk: at once, or, unsynced, when that segment file is synced",
        "log.file",
        at="LogSegment.truncateTo",
        since="0.8.0",
        role=Role.SURROUNDING,
    )
    recovery_replaces_epochs: bool = setting(
        False,
        "log recovery takes leader epochs from the records, not from leader-epoch-checkpoint",
        "recovery.replaces.epochs",
        at="LogSegment.recover",
    )
    log_start_file: LogStartFile = setting(
        LogStartFile.AT_ONCE,
        "when a new log start offset is in its checkpoint file: at once, or later",
        "log.start.file",
        at="LogManager.checkpointLogStartOffsets",
        about="KIP-107",
        since="0.11.0",
        role=Role.FINENESS,
    )
    retention_stops_at_hw: bool = setting(
        True,
        "records beyond the high watermark are not deleted",
        "retention.stops.at.hw",
        at="UnifiedLog.deletableSegments",
        about="KAFKA-5634",
        since="0.11.0.1",
    )
    starting_anew_moves_hw: bool = setting(
        True,
        "a follower that truncates fully to the leader's log start sets its HW to it",
        "starting.anew.moves.hw",
        at="UnifiedLog.truncateFullyAndStartAt",
        about="KAFKA-9491",
        history="false 0.8.2, true 2.4.1 2.5.0",
        evidence="KAFKA-9491: tags",
        catalogue="81",
        owner=Whose.FOLLOWER,
    )
    every_truncation_marks_future: bool = setting(
        False,
        "a future replica is told of every truncation of its current log, not of the last alone",
        "every.truncation.marks.future.replica",
        at="ReplicaFetcherThread.truncate",
        about="finding 0029",
        fix=True,
    )
    new_epoch_restarts_log_dir_fetcher: bool = setting(
        True,
        "a future replica's fetcher is told of each new leader epoch",
        "new.epoch.restarts.log.dir.fetcher",
        at="ReplicaManager.maybeAddLogDirFetchers",
        about="KAFKA-8001, KAFKA-9654",
        since="2.5.0",
    )
    log_dir_fetcher_begins_at_its_hw: bool = setting(
        True,
        "a future replica's fetcher begins at its own high watermark, not at the current log's",
        "log.dir.fetcher.begins.at.its.hw",
        at="ReplicaManager.maybeAddLogDirFetchers",
        about="KAFKA-9087",
        since="3.5.0",
    )
    abandoned_future_replica_is_kept: bool = setting(
        True,
        "a broker that starts in the directory that it has moved to takes its future replica",
        "abandoned.future.replica.is.kept",
        at="LogManager.recoverAbandonedFutureLogs",
        about="KAFKA-16082",
        since="3.7.1",
    )
    lost_future_replica_reverts_assignment: bool = setting(
        True,
        "a move that ends with its new directory gives the controller the old directory again",
        "lost.future.replica.reverts.assignment",
        at="ReplicaAlterLogDirsThread.removePartitions",
        about="KAFKA-16297",
        since="3.7.1",
    )
    swapped_log_keeps_epochs: bool = setting(
        False,
        "a log's copy in another directory takes over the epoch cache",
        "swapped.log.keeps.epochs",
        at="UnifiedLog.renameDir",
        about="KAFKA-20961",
        fix=True,
    )
