"""A broker's log as it grows and is cut (`UnifiedLog`), with what is kept of its leader epochs."""

from __future__ import annotations

from model.kafka import leader_epoch_file_cache as cache
from model.kafka.state import Broker, TopicPartition
from model.language import choose


def append(partition: TopicPartition, broker: Broker, record: int, epoch: int) -> None:
    """Append a record by its id. Require first that there is room."""
    if cache.is_kept(partition):
        cache.assign(partition, broker, epoch, broker.log.end, where=True)
    broker.log.append(id=record, epoch=epoch)


def truncate(partition: TopicPartition, broker: Broker, end: int, where: bool) -> None:
    """Where the condition holds, cut the log at `end`, not beyond its end, and the HW with it."""
    if cache.is_kept(partition):
        cache.truncate(partition, broker, end, where)
    broker.truncate_to(choose(where, end, broker.log.end))


def delete(partition: TopicPartition, broker: Broker, where: bool) -> None:
    """Where the condition holds, delete the log with all its files."""
    if cache.is_kept(partition):
        cache.forget(partition, broker, where)
    broker.truncate_to(choose(where, 0, broker.log.end))
