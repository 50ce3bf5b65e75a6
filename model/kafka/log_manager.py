"""Records that are deleted at a log's start (`LogManager.cleanupLogs`, DeleteRecords).

A leader, or a follower on its own, deletes up to its HW; followers take the leader's log start from
its answers, and one whose log ends before it starts anew there. Here a segment is one record, so
what is deleted is gone at once, files and all. With `log.start.file=later` that is so of retention
alone: where a leader is asked to delete (DeleteRecords), and where a follower takes its leader's
start, the start moves in memory. Until it is in `log-start-offset-checkpoint`, or retention has had
the files, a crash takes the log back to the start before.
Only with `epoch.cache=kept`, since the epoch of what is gone is in the cache alone. Where answers
travel, the log start comes with them (`fetch_in_flight.py`); what is out of range is asked for and
answered in one step.
"""

from __future__ import annotations

from model.kafka import fetch_session, unified_log
from model.kafka import leader_epoch_file_cache as file_cache
from model.kafka.bounds import RECORD_DELETIONS
from model.kafka.partition import (
    can_fetch,
    fetch_diverges,
    is_answered,
    is_ready_to_fetch,
    note_fetch,
)
from model.kafka.replica_fetcher import answers_at_once
from model.kafka.state import NO_ANSWER, Broker, TopicPartition
from model.language import action, all_of, any_of, not_, require, some, spend
from model.replicated_log import Offset


@action(
    "{broker} deletes the records before {start}",
    at="UnifiedLog.deleteOldSegments",
    since="0.8.0",
    about="KAFKA-5634, KIP-107",
    settings="epoch.cache, retention.stops.at.hw",
)
def broker_delete_records(partition: TopicPartition, broker: Broker, start: Offset) -> None:
    """Retention at any broker, or DeleteRecords at a leader (`UnifiedLog.deleteOldSegments`).

    Up to the HW; before KAFKA-5634 retention went up to the log's end.
    """
    log = broker.log
    require(file_cache.is_kept(partition))
    require(broker.is_online, start > broker.log_start, start <= log.end)
    if partition.options.retention_stops_at_hw:
        require(start <= broker.high_watermark)

    spend(partition, RECORD_DELETIONS)
    for record in partition.records:
        goes = some(
            all_of(broker.log_start <= p, p < start, log[p].id == record.number)
            for p in log.positions
        )
        record.deleted = any_of(record.deleted, goes)
    unified_log.start_at(partition, broker, start)
    unified_log.checkpoint_start(partition, broker, where=not_(broker.leads))


@action(
    "{broker} writes its log start offset to the checkpoint file",
    at="LogManager.checkpointLogStartOffsets",
    since="0.11.0",
    about="KIP-107",
    settings="log.start.file",
)
def broker_checkpoint_log_start(partition: TopicPartition, broker: Broker) -> None:
    """Once a minute (`checkpointLogStartOffsets`); or retention deletes what is before it."""
    require(unified_log.is_start_late(partition))
    require(broker.is_online, broker.start_on_disk < broker.log_start)

    unified_log.checkpoint_start(partition, broker)


@action(
    "{follower} fetches from {leader} and learns its log start offset",
    at="ReplicaFetcherThread.processPartitionData",
    since="0.11.0",
    about="KIP-107",
    settings="fetch.answers, fetch.sessions",
)
def follower_fetch_log_start(partition: TopicPartition, follower: Broker, leader: Broker) -> None:
    """An answer at the leader's end in which only the log start is news (`processPartitionData`).

    A log start beyond the HW is refused, and the follower's fetcher fails (KAFKA-5634).
    """
    diverging = fetch_diverges(partition, follower, leader)
    require(answers_at_once(partition))
    require(can_fetch(partition, follower, leader), not_(diverging))
    require(follower.log.end == leader.log.end)
    require(follower.high_watermark == leader.high_watermark)
    require(follower.log_start < leader.log_start)
    require(leader.log_start <= follower.high_watermark)
    require(not_(fetch_session.leaves_out(partition, follower, leader)))

    fetch_session.begin_anew(partition, follower)
    note_fetch(partition, follower, leader, diverging)
    unified_log.take_start(partition, follower, leader.log_start)


@action(
    "{follower} fetches from {leader}, whose log starts later, and restarts its log there",
    at="AbstractFetcherThread.fetchOffsetAndTruncate",
    since="0.8.0",
    about="KAFKA-9491",
    settings="starting.anew.moves.hw",
)
def follower_start_anew(partition: TopicPartition, follower: Broker, leader: Broker) -> None:
    """OFFSET_OUT_OF_RANGE below the leader's log start (`fetchOffsetAndTruncate`).

    Before KAFKA-9491 the HW stayed where it was. The leader notes nothing of such a fetch.
    """
    require(is_answered(partition, follower, leader), follower.answer.kind == NO_ANSWER)
    require(is_ready_to_fetch(partition, follower, leader))
    require(follower.log.end < leader.log_start)

    start_anew(partition, follower, leader)


def start_anew(partition: TopicPartition, follower: Broker, leader: Broker) -> None:
    """Throw the log away, and begin another where the leader's starts."""
    start = leader.log_start
    fetch_session.begin_anew(partition, follower)
    unified_log.delete(partition, follower, where=True)
    follower.log.truncate_to(start)
    follower.log_start = start
    unified_log.checkpoint_start(partition, follower)
    if partition.options.starting_anew_moves_hw:
        follower.high_watermark = start
