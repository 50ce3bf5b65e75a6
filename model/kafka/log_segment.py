"""A log's segment file, of which a disk may have another state than the system (`LogSegment`).

`FileRecords.truncateTo` shortens the file and syncs nothing. Next, `LogManager.truncateTo` has the
recovery points written to a checkpoint file, and synced: a file system that keeps the order of its
changes has the truncation on disk by then (ext4, XFS), and nothing of this is needed. One that
syncs that file alone may have the old end again when power is back, until the segment itself is
synced. Here with `log.file=unsynced`; what is found then is in `log_loader.py`.

A log that starts later than 0 is left out: its truncation counts as synced.
"""

from __future__ import annotations

from model.kafka.bounds import POWER_LOSSES
from model.kafka.choices import LogFile
from model.kafka.state import Broker, TopicPartition
from model.language import all_of, any_of, choose, every, implies, is_left, not_
from model.replicated_log import Log


def may_come_back(partition: TopicPartition) -> bool:
    """A power loss may undo a truncation."""
    return partition.options.log_file == LogFile.UNSYNCED


def begins_with(log: Log, other: Log) -> bool:
    """The log holds all that the other holds, at the same offsets."""
    return every(implies(other.has(p), log.same_entry(other, p)) for p in other.positions)


def note_truncation(partition: TopicPartition, broker: Broker, end: int, where: bool) -> None:
    """Where the condition holds, the log is cut at `end`: before that, keep what it was.

    If an earlier truncation is in no synced file either, keep what was before that one. What was
    between the two is kept only if the earlier one was synced (`broker_sync_truncation`).
    """
    if not may_come_back(partition):
        return
    log, before = broker.log, broker.log_before
    kept = all_of(
        where,
        end < log.end,
        before.is_empty,
        broker.log_start == 0,
        is_left(partition, POWER_LOSSES),
    )
    before.truncate_to(choose(kept, log.end, before.end))
    for offset in log.positions:
        before[offset].id = choose(kept, log[offset].id, before[offset].id)
        before[offset].epoch = choose(kept, log[offset].epoch, before[offset].epoch)


def note_append(partition: TopicPartition, broker: Broker) -> None:
    """A record was appended: the file is synced, or holds again all that truncation took."""
    if partition.options.log_flush_interval_messages == 1:
        forget(partition, broker)
    else:
        forget(partition, broker, where=begins_with(broker.log, broker.log_before))


def forget(partition: TopicPartition, broker: Broker, where: bool = True) -> None:
    """Where the condition holds, no truncation of this log can be undone any more."""
    if may_come_back(partition):
        before = broker.log_before
        before.truncate_to(choose(where, 0, before.end))


def forget_at_power_loss(partition: TopicPartition, broker: Broker) -> None:
    """The broker has lost power, which was charged; if nobody can any more, all forget."""
    last = not_(is_left(partition, POWER_LOSSES))
    for member in partition.brokers:
        forget(partition, member, where=any_of(last, member == broker))
