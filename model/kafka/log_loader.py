"""Logs that are loaded after a power loss that has undone a truncation (`LogLoader`).

Such a log ends later than the file of leader epochs may know, or holds other records than those
whose epochs are in that file: each epoch is synced before its first record is even written
(`UnifiedLog.append`). Only with `log.file=unsynced`: see `log_segment.py`.
"""

from __future__ import annotations

from model.kafka import leader_epoch_file_cache as file_cache
from model.kafka.bounds import POWER_LOSSES
from model.kafka.faults import stop
from model.kafka.fetch_in_flight import takes_answer
from model.kafka.log_segment import begins_with, forget, may_come_back
from model.kafka.partition import can_fetch, fetch_diverges, note_fetch
from model.kafka.replica_fetcher import answers_at_once
from model.kafka.state import RECORD_ANSWER, Broker, TopicPartition
from model.language import action, choose, every, implies, is_left, minimum, not_, require, use_up
from model.replicated_log import Offset


def _require_undone(partition: TopicPartition, broker: Broker, kept: int, checkpoint: int) -> None:
    """The disk has `kept` entries of the log as it was, which are not what was left of it."""
    log, before = broker.log, broker.log_before
    require(may_come_back(partition), is_left(partition, POWER_LOSSES))
    require(broker.up, kept <= before.end, checkpoint <= minimum(broker.high_watermark, kept))
    still_there = every(implies(p < kept, log.same_entry(before, p)) for p in log.positions)
    require(not_(still_there))


def _lose_power(partition: TopicPartition, broker: Broker, kept: int, checkpoint: int) -> None:
    """The machine stops; the log is as before the truncation, up to `kept`."""
    use_up(partition, POWER_LOSSES)
    broker.high_watermark = checkpoint
    log, before = broker.log, broker.log_before
    log.truncate_to(kept)
    for offset in log.positions:
        left = offset < kept
        log[offset].id = choose(left, before[offset].id, 0)
        log[offset].epoch = choose(left, before[offset].epoch, 0)
    if file_cache.is_kept(partition):
        file_cache.recover(partition, broker)
    stop(partition, broker, power_lost=True)


@action(
    "{broker} loses power, which undoes a truncation; {kept} records of its log as it was before "
    "and the high watermark checkpoint {checkpoint} are left",
    at="LogSegment.truncateTo",
    since="0.8.0",
    settings="log.file, epoch.cache",
)
def broker_lose_power_and_truncation(
    partition: TopicPartition, broker: Broker, kept: Offset, checkpoint: Offset
) -> None:
    """The machine stops; the disk has the segment file from before it was cut.

    What was appended since is lost with the truncation, but not the epochs that it was appended in.
    """
    _require_undone(partition, broker, kept, checkpoint)

    _lose_power(partition, broker, kept, checkpoint)


def _require_unsynced_append(partition: TopicPartition) -> None:
    """Each record is flushed, which is after its epoch was synced.

    Where flushing is left to the system, this is no other than a power loss after the append.
    """
    require(partition.options.log_flush_interval_messages == 1, file_cache.is_kept(partition))


@action(
    "{follower} fetches a record from {leader} and loses power as it appends, which undoes a "
    "truncation; {kept} records of its log as it was before and the high watermark checkpoint "
    "{checkpoint} are left",
    at="UnifiedLog.append",
    since="0.11.0",
    settings="log.file, epoch.cache, log.flush.interval.messages, fetch.answers",
)
def follower_lose_power_appending(
    partition: TopicPartition, follower: Broker, leader: Broker, kept: Offset, checkpoint: Offset
) -> None:
    """The epoch of a record is synced, and the record itself is not yet."""
    diverging = fetch_diverges(partition, follower, leader)
    end = follower.log.end
    _require_unsynced_append(partition)
    require(answers_at_once(partition), can_fetch(partition, follower, leader))
    require(not_(diverging), end < leader.log.end)
    _require_undone(partition, follower, kept, checkpoint)

    note_fetch(partition, follower, leader, diverging)
    file_cache.assign(partition, follower, leader.log[end].epoch, end, where=True)
    _lose_power(partition, follower, kept, checkpoint)


@action(
    "{follower} receives a record and loses power as it appends, which undoes a truncation; {kept} "
    "records of its log as it was before and the high watermark checkpoint {checkpoint} are left",
    at="UnifiedLog.append",
    since="0.11.0",
    settings="log.file, epoch.cache, log.flush.interval.messages, fetch.answers",
)
def follower_lose_power_receiving(
    partition: TopicPartition, follower: Broker, kept: Offset, checkpoint: Offset
) -> None:
    """The same where answers travel."""
    answer = follower.answer
    _require_unsynced_append(partition)
    require(not answers_at_once(partition))
    require(answer.kind == RECORD_ANSWER, takes_answer(follower))
    _require_undone(partition, follower, kept, checkpoint)

    file_cache.assign(partition, follower, answer.epoch, follower.log.end, where=True)
    _lose_power(partition, follower, kept, checkpoint)


@action(
    "the truncation of the log of {broker} reaches its disk",
    at="LogSegment.truncateTo",
    since="0.8.0",
    settings="log.file",
)
def broker_sync_truncation(partition: TopicPartition, broker: Broker) -> None:
    """Nothing can undo the truncation any more, so that what a later one undoes is the log of now.

    As long as the log is part of what it was, that says nothing new.
    """
    require(may_come_back(partition), is_left(partition, POWER_LOSSES))
    require(not_(begins_with(broker.log_before, broker.log)))
    require(not_(broker.log_before.is_empty))

    forget(partition, broker)
