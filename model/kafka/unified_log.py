"""A broker's log as it grows and is cut (`UnifiedLog`), with what is kept of its leader epochs."""

from __future__ import annotations

from model.kafka import leader_epoch_file_cache as cache
from model.kafka import log_segment
from model.kafka.state import Broker, TopicPartition
from model.language import all_of, choose


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


def take_start(partition: TopicPartition, follower: Broker, leader: Broker) -> None:
    """Delete what the leader has deleted, as the answer to a fetch says.

    What is beyond the follower's HW is refused (KAFKA-5634).
    """
    held, start = follower.log_start, leader.log_start
    taken = all_of(held < start, start <= follower.high_watermark)
    start_at(partition, follower, choose(taken, start, held))


def start_at(partition: TopicPartition, broker: Broker, start: int) -> None:
    """Delete the records before `start`, which is not before the log's start nor after its end.

    `maybeIncrementLogStartOffset`.
    """
    if cache.is_kept(partition):
        cache.truncate_from_start(partition, broker, start)
    for offset in broker.log.positions:
        entry = broker.log[offset]
        entry.id = choose(offset < start, 0, entry.id)
        entry.epoch = choose(offset < start, 0, entry.epoch)
    log_segment.forget(partition, broker, where=start > 0)
    broker.log_start = start


def delete(partition: TopicPartition, broker: Broker, where: bool) -> None:
    """Where the condition holds, delete the log with all its files."""
    if cache.is_kept(partition):
        cache.forget(partition, broker, where)
    log_segment.forget(partition, broker, where)
    broker.truncate_to(choose(where, 0, broker.log.end))
