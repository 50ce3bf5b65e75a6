"""Leader epochs in a log (`LeaderEpochFileCache`): where each ends, and where two logs diverge.

Kafka keeps a cache of (epoch, start offset), in the file `leader-epoch-checkpoint`. Here it is read
off the log's entries, with the leader's own epoch added: epochs without records are forgotten. With
`epoch.cache=kept` the same questions are asked of a cache that is state
(`leader_epoch_file_cache.py`).
"""

from __future__ import annotations

from model.kafka import leader_epoch_file_cache as file_cache
from model.kafka.state import Broker, TopicPartition
from model.language import all_of, any_of, choose, largest, minimum, not_, smallest, some
from model.replicated_log import NO_EPOCH, Log


def end_of_epoch(log: Log, epoch: int) -> int:
    """Where `epoch` ends in `log`: at its first entry of a later epoch, or at its end."""
    return smallest(
        choose(all_of(log.has(offset), log[offset].epoch > epoch), offset, log.end)
        for offset in log.positions
    )


def floor_epoch(log: Log, epoch: int) -> int:
    """The greatest epoch in `log` that is at most `epoch`; `NO_EPOCH` if there is none."""
    return largest(
        choose(all_of(log.has(offset), log[offset].epoch <= epoch), log[offset].epoch, NO_EPOCH)
        for offset in log.positions
    )


def has_epoch(log: Log, epoch: int) -> bool:
    """Some entry of `log` has `epoch`."""
    return some(all_of(log.has(offset), log[offset].epoch == epoch) for offset in log.positions)


def epoch_start(leader: Broker) -> int:
    """The offset at which the leader's own epoch began: a leader appends in no other epoch."""
    log = leader.log
    return smallest(
        choose(all_of(log.has(offset), log[offset].epoch == leader.leader_epoch), offset, log.end)
        for offset in log.positions
    )


def found_epoch(leader: Broker, asked: int) -> int:
    """The epoch that the leader answers for: the one asked for, or the greatest below that."""
    floor = floor_epoch(leader.log, asked)
    return choose(floor == NO_EPOCH, asked, floor)


def last_epoch(partition: TopicPartition, broker: Broker) -> int:
    """The last epoch that the broker knows of, which it asks for. Meaningless if there is none."""
    if file_cache.is_kept(partition):
        return file_cache.latest_epoch(partition, broker)
    return broker.log.last_epoch


def fetched_epoch(partition: TopicPartition, follower: Broker) -> int:
    """The epoch that the follower's fetch names, where fetches do. Meaningless if it has none."""
    if file_cache.is_kept(partition):
        return file_cache.fetched_epoch(partition, follower)
    return follower.log.last_epoch


def knows_epochs(partition: TopicPartition, broker: Broker) -> bool:
    """The broker knows of some epoch."""
    if file_cache.is_kept(partition):
        return not_(file_cache.is_empty(partition, broker))
    return not_(broker.log.is_empty)


def answered_epoch(partition: TopicPartition, leader: Broker, asked: int) -> int:
    """The epoch that the leader answers for, where it has an answer."""
    if file_cache.is_kept(partition):
        return file_cache.found_epoch(partition, leader, asked)
    return found_epoch(leader, asked)


def answered_end(partition: TopicPartition, leader: Broker, asked: int) -> int:
    """Where the leader says that this epoch ends, where it has an answer."""
    if file_cache.is_kept(partition):
        return file_cache.end_of_epoch(partition, leader, asked)
    return end_of_epoch(leader.log, asked)


def diverges(partition: TopicPartition, follower: Broker, leader: Broker) -> bool:
    """The leader's check of a fetch at the follower's LEO with the epoch of its last entry."""
    if file_cache.is_kept(partition):
        return file_cache.diverges(partition, follower, leader)
    last = follower.log.last_epoch
    return all_of(
        follower.log.end > 0,
        any_of(found_epoch(leader, last) < last, end_of_epoch(leader.log, last) < follower.log.end),
    )


def cannot_be_placed(partition: TopicPartition, follower: Broker, leader: Broker) -> bool:
    """The leader can say nothing of the epoch that a fetch names: the answer is out of range."""
    if file_cache.is_kept(partition):
        return file_cache.is_out_of_range(partition, follower, leader)
    return all_of(follower.log.end > 0, follower.log.last_epoch > leader.leader_epoch)


def local_truncation(log: Log, epoch: int, end: int) -> int:
    """Where a follower cuts its log when the leader says that `epoch` ends at `end`.

    If it does not know that epoch, at the end of the greatest one below; it has to ask again.
    """
    here = end_of_epoch(log, epoch)
    return choose(has_epoch(log, epoch), minimum(here, end), here)


def completes_truncation(log: Log, epoch: int) -> bool:
    """A log that is told where `epoch` ends has it, or none as early: it need not ask again."""
    return any_of(has_epoch(log, epoch), floor_epoch(log, epoch) == NO_EPOCH)


def knows_epoch(partition: TopicPartition, follower: Broker, epoch: int) -> bool:
    """The follower finds that very epoch, or nothing at all: it need not ask again."""
    if file_cache.is_kept(partition):
        undefined = file_cache.is_undefined(partition, follower, epoch)
        return any_of(undefined, file_cache.found_epoch(partition, follower, epoch) == epoch)
    return completes_truncation(follower.log, epoch)


def cannot_be_answered(partition: TopicPartition, broker: Broker, asked: int) -> bool:
    """The broker's log or cache cannot say where the epoch ends: it has neither it nor a later."""
    if file_cache.is_kept(partition):
        return file_cache.is_undefined(partition, broker, asked)
    return any_of(broker.log.is_empty, broker.log.last_epoch < asked)


def truncation_end(partition: TopicPartition, follower: Broker, epoch: int, end: int) -> int:
    """The same as `local_truncation` of the follower's log, by what it knows."""
    if not file_cache.is_kept(partition):
        return local_truncation(follower.log, epoch, end)
    here = file_cache.end_of_epoch(partition, follower, epoch)
    here = choose(file_cache.is_undefined(partition, follower, epoch), follower.log.end, here)
    return choose(knows_epoch(partition, follower, epoch), minimum(here, end), here)


def begin_epoch(partition: TopicPartition, leader: Broker, where: bool) -> None:
    """Where the condition holds, a new leader enters where its epoch starts (KAFKA-7415)."""
    if file_cache.is_kept(partition) and partition.options.leader_enters_epoch:
        controller, end = partition.controller, leader.log.end
        file_cache.assign(partition, leader, controller.leader_epoch, end, where)
