"""A broker's log as it grows and is cut (`UnifiedLog`), with what is kept of its leader epochs."""

from __future__ import annotations

from model.kafka import leader_epoch_file_cache as cache
from model.kafka import log_segment, replica_alter_log_dirs
from model.kafka.choices import LogStartFile
from model.kafka.state import Broker, TopicPartition
from model.language import all_of, choose, maximum, minimum, not_


def append(partition: TopicPartition, broker: Broker, record: int, epoch: int) -> None:
    """Append a record by its id. Require first that there is room."""
    if cache.is_kept(partition):
        cache.assign(partition, broker, epoch, broker.log.end, where=True)
    broker.log.append(id=record, epoch=epoch)
    log_segment.note_append(partition, broker)


def truncate(partition: TopicPartition, broker: Broker, end: int, where: bool) -> None:
    """Where the condition holds, cut the log at `end`, not beyond its end, and the HW with it."""
    if cache.is_kept(partition):
        cache.truncate(partition, broker, end, where)
    log_segment.note_truncation(partition, broker, end, where)
    broker.truncate_to(choose(where, end, broker.log.end))


def take_answered(
    partition: TopicPartition, follower: Broker, high_watermark: int, start: int
) -> None:
    """Take HW and log start of an answer, in this order, once its records are appended.

    `ReplicaFetcherThread.processPartitionData`. The HW stays within the log.
    """
    taken = minimum(high_watermark, follower.log.end)
    follower.high_watermark = maximum(taken, follower.log_start)
    take_start(partition, follower, start)


def take_start(partition: TopicPartition, follower: Broker, start: int) -> None:
    """Delete what the leader has deleted, as the answer to a fetch says."""
    held = follower.log_start
    taken = all_of(held < start, not_(refuses_start(follower, start)))
    start_at(partition, follower, choose(taken, start, held))


def refuses_start(follower: Broker, start: int) -> bool:
    """No log may start beyond its HW (KAFKA-5634): where one should, an exception is thrown."""
    return start > follower.high_watermark


def start_at(partition: TopicPartition, broker: Broker, start: int) -> None:
    """Delete the records before `start`, which is not before the log's start nor after its end.

    `maybeIncrementLogStartOffset`.
    """
    if cache.is_kept(partition):
        cache.truncate_from_start(partition, broker, start)
    log_segment.forget(partition, broker, where=start > 0)
    broker.log_start = start
    if not is_start_late(partition):
        _forget_before(partition, broker, start)


def is_start_late(partition: TopicPartition) -> bool:
    """A log's start is in its checkpoint file later, and its records are there until then."""
    return partition.options.log_start_file == LogStartFile.LATER


def _forget_before(partition: TopicPartition, broker: Broker, start: int) -> None:
    """What was before `start` is gone for good: the log starts there on disk, too."""
    if cache.is_kept(partition):
        cache.note_start_on_disk(partition, broker, start)
    for offset in broker.log.positions:
        entry = broker.log[offset]
        entry.id = choose(offset < start, 0, entry.id)
        entry.epoch = choose(offset < start, 0, entry.epoch)


def checkpoint_start(partition: TopicPartition, broker: Broker, where: bool = True) -> None:
    """Where the condition holds, write where the log starts: it starts there after a crash."""
    if is_start_late(partition):
        broker.start_on_disk = choose(where, broker.log_start, broker.start_on_disk)
        _forget_before(partition, broker, broker.start_on_disk)


def start_on_disk(partition: TopicPartition, broker: Broker) -> int:
    """Where the log starts if the broker stops now: where its checkpoint or first file says."""
    return broker.start_on_disk if is_start_late(partition) else broker.log_start


def reload_start(partition: TopicPartition, broker: Broker, where: bool) -> None:
    """Where the condition holds, the log is loaded, and starts where it does on disk."""
    if is_start_late(partition):
        broker.log_start = choose(where, broker.start_on_disk, broker.log_start)


def delete(partition: TopicPartition, broker: Broker, where: bool) -> None:
    """Where the condition holds, delete the log with all its files."""
    if cache.is_kept(partition):
        cache.forget(partition, broker, where)
    log_segment.forget(partition, broker, where)
    replica_alter_log_dirs.forget(broker, where)
    broker.truncate_to(choose(where, 0, broker.log.end))
