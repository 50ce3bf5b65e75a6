"""The leader-epoch cache as state of its own (`LeaderEpochFileCache`), with its checkpoint file.

Each entry says at which offset an epoch starts. A leader enters its epoch before it has a record of
it, a follower that of each batch; entries go as the log is truncated. All that is written to
`leader-epoch-checkpoint` at once, but for entries that go, since 3.7 (KAFKA-15046): as a log is
cut, as its start moves, and as it is loaded. Here with `epoch.cache=kept`; else the epochs are read
off the log (`leader_epoch_cache.py`).

Since 3.8 a thread of the scheduler writes what is left. A broker that stops cleanly has read its
last metadata when it ends the scheduler, which does what it has been given and takes no more;
fetchers go on, and may truncate (`BrokerServer.shutdown`). In 3.7 it is written and not synced.

A row's `in_file` is that of the file as a whole while the file differs from the cache, and empty
while it does not. What the file has below where the log starts on disk counts as dropped: each load
drops it.

Starts grow with epochs, so there is one entry an offset at most: rows of offsets, not a list.
"""

from __future__ import annotations

from collections.abc import Callable

from model.kafka import fetched_epoch as fetched
from model.kafka.bounds import (
    CACHE_LOSSES,
    CONTROLLED_SHUTDOWNS,
    CRASHES,
    POWER_LOSSES,
    RACK_FAILURES,
    SHUTDOWNS,
)
from model.kafka.choices import EpochCache, EpochFile, Truncation
from model.kafka.state import Broker, EpochStart, TopicPartition
from model.language import (
    PerMember,
    all_of,
    any_of,
    choose,
    every,
    is_left,
    largest,
    minimum,
    not_,
    smallest,
    some,
)
from model.replicated_log import NO_EPOCH, LeaderEpochOrNone


def is_kept(partition: TopicPartition) -> bool:
    """The cache is state, and followers truncate by it."""
    options = partition.options
    by_epoch = options.truncation != Truncation.HIGH_WATERMARK
    return by_epoch and options.epoch_cache == EpochCache.KEPT


def latest_epoch(partition: TopicPartition, broker: Broker) -> int:
    """The last epoch in the broker's cache; `NO_EPOCH` if the cache is empty."""
    return largest(row.cached[broker] for row in partition.epoch_starts)


def is_empty(partition: TopicPartition, broker: Broker) -> bool:
    """The broker's cache has no entry."""
    return latest_epoch(partition, broker) == NO_EPOCH


def _start_of_higher(partition: TopicPartition, broker: Broker, epoch: int) -> int:
    """Where the first later epoch starts; beyond all offsets if there is none."""
    beyond = partition.bound("log_size") + 1
    return smallest(
        choose(row.cached[broker] > epoch, row.number, beyond) for row in partition.epoch_starts
    )


def _floor(partition: TopicPartition, broker: Broker, epoch: int) -> int:
    """The greatest epoch in the cache that is at most `epoch`, or `NO_EPOCH`."""
    return largest(
        choose(row.cached[broker] <= epoch, row.cached[broker], NO_EPOCH)
        for row in partition.epoch_starts
    )


def is_undefined(partition: TopicPartition, broker: Broker, epoch: int) -> bool:
    """The cache cannot say where `epoch` ends: it holds no later one, nor is that its latest.

    Up to 2.0.0 that is also so of an epoch before its first entry (KAFKA-7415).
    """
    last = latest_epoch(partition, broker) == epoch
    higher = _start_of_higher(partition, broker, epoch) <= partition.bound("log_size")
    if not partition.options.leader_enters_epoch:
        higher = all_of(higher, _floor(partition, broker, epoch) != NO_EPOCH)
    return any_of(epoch == NO_EPOCH, not_(any_of(last, higher)))


def end_of_epoch(partition: TopicPartition, broker: Broker, epoch: int) -> int:
    """Where `epoch` ends: where the next one starts, or at the log's end (`endOffsetFor`)."""
    return minimum(_start_of_higher(partition, broker, epoch), broker.log.end)


def found_epoch(partition: TopicPartition, broker: Broker, epoch: int) -> int:
    """The epoch that `endOffsetFor` answers for: the one asked for, or the greatest below that."""
    floor = _floor(partition, broker, epoch)
    return choose(floor == NO_EPOCH, epoch, floor)


def fetched_epoch(partition: TopicPartition, follower: Broker) -> int:
    """The last fetched epoch that a fetch names; `NO_EPOCH` if it names none."""
    return fetched.named(follower, latest_epoch(partition, follower))


def is_out_of_range(partition: TopicPartition, follower: Broker, leader: Broker) -> bool:
    """The leader cannot say where the last fetched epoch ends; or none is named, beyond its end."""
    asked = fetched_epoch(partition, follower)
    beyond = follower.log.end > leader.log.end
    return choose(asked == NO_EPOCH, beyond, is_undefined(partition, leader, asked))


def diverges(partition: TopicPartition, follower: Broker, leader: Broker) -> bool:
    """The leader's check of a fetch that names an epoch (`Partition.readRecords`)."""
    asked = fetched_epoch(partition, follower)
    earlier = found_epoch(partition, leader, asked) < asked
    shorter = end_of_epoch(partition, leader, asked) < follower.log.end
    return all_of(not_(is_undefined(partition, leader, asked)), any_of(earlier, shorter))


def assign(partition: TopicPartition, broker: Broker, epoch: int, start: int, where: bool) -> None:
    """Where the condition holds, enter that `epoch` starts at `start`, and write the file.

    Entries that do not fit go. Up to 2.0.0 it is the new one that is left out (KAFKA-7415).
    """
    latest = latest_epoch(partition, broker)
    last_start = largest(
        choose(row.cached[broker] == NO_EPOCH, 0, row.number) for row in partition.epoch_starts
    )
    needed = any_of(latest != epoch, start < last_start)
    if not partition.options.leader_enters_epoch:
        needed = all_of(epoch > latest, start >= last_start)
    entered = all_of(where, needed)
    fetched.note_record(broker, where)
    write(partition, broker, where=entered)
    for row in partition.epoch_starts:
        held = row.cached[broker]
        unfit = any_of(row.number >= start, held >= epoch)
        after = choose(row.number == start, epoch, choose(unfit, NO_EPOCH, held))
        row.cached[broker] = choose(entered, after, held)


def is_written(partition: TopicPartition, broker: Broker) -> bool:
    """The file has what the cache has."""
    return every(row.in_file[broker] == NO_EPOCH for row in partition.epoch_starts)


def write(partition: TopicPartition, broker: Broker, where: bool = True) -> None:
    """Where the condition holds, the file has what the cache has."""
    broker.epochs_cut_last = choose(where, False, broker.epochs_cut_last)
    for row in partition.epoch_starts:
        row.in_file[broker] = choose(where, NO_EPOCH, row.in_file[broker])


def _keep_in_file(partition: TopicPartition, broker: Broker, where: bool) -> None:
    """Where the condition holds, entries go from the cache, and the file keeps what it has."""
    if partition.options.epoch_file == EpochFile.AT_ONCE:
        return
    kept = all_of(where, is_written(partition, broker))
    for row in partition.epoch_starts:
        row.in_file[broker] = choose(kept, row.cached[broker], row.in_file[broker])


def _compare_with_file(partition: TopicPartition, broker: Broker) -> None:
    """Once entries have gone: the file may have just what is left in the cache."""
    if partition.options.epoch_file == EpochFile.AT_ONCE:
        return
    same = every(row.in_file[broker] == row.cached[broker] for row in partition.epoch_starts)
    for row in partition.epoch_starts:
        row.in_file[broker] = choose(same, NO_EPOCH, row.in_file[broker])


def _may_stop_cleanly(partition: TopicPartition, broker: Broker) -> bool:
    return any_of(
        is_left(partition, SHUTDOWNS),
        is_left(partition, CONTROLLED_SHUTDOWNS),
        broker.shutting_down,
    )


def _may_stop(partition: TopicPartition, broker: Broker) -> bool:
    """The broker's log may be loaded once more; if not, nobody reads its file again."""
    return any_of(
        _may_stop_cleanly(partition, broker),
        is_left(partition, CRASHES),
        is_left(partition, POWER_LOSSES),
        is_left(partition, CACHE_LOSSES),
        is_left(partition, RACK_FAILURES),
    )


def truncate(partition: TopicPartition, broker: Broker, end: int, where: bool) -> None:
    """Where the condition holds, drop what starts at `end` or later, as the log is cut there.

    The file may be written later. Up to 2.6.0 nothing goes if that is the log's end already
    (KAFKA-10706). What was fetched last is taken from the cache again. Before the log itself is
    cut.
    """
    options = partition.options
    cut = where
    if not options.truncation_at_end_clears:
        cut = all_of(where, end < broker.log.end)
    if options.epoch_file == EpochFile.LATER:
        goes = some(
            all_of(cut, row.cached[broker] != NO_EPOCH, row.number >= end)
            for row in partition.epoch_starts
        )
        may_stop = _may_stop_cleanly(partition, broker)
        first = all_of(goes, may_stop, is_written(partition, broker))
        broker.epochs_cut_last = any_of(broker.epochs_cut_last, first)
    _keep_in_file(partition, broker, cut)
    for row in partition.epoch_starts:
        goes = all_of(cut, row.number >= end)
        row.cached[broker] = choose(goes, NO_EPOCH, row.cached[broker])
    _compare_with_file(partition, broker)
    fetched.take_from_cache(broker, where)


def _drop_before(
    partition: TopicPartition,
    broker: Broker,
    of: Callable[[EpochStart], PerMember[Broker, LeaderEpochOrNone]],
    start: int,
) -> None:
    """Of what starts before `start` the last epoch goes on there, and the others are gone."""
    last = largest(
        choose(row.number <= start, of(row)[broker], NO_EPOCH) for row in partition.epoch_starts
    )
    for row in partition.epoch_starts:
        kept = choose(row.number == start, last, of(row)[broker])
        of(row)[broker] = choose(row.number < start, NO_EPOCH, kept)


def truncate_from_start(partition: TopicPartition, broker: Broker, start: int) -> None:
    """Drop what starts before `start`, but for the epoch that goes on there.

    The file follows later.
    """
    _keep_in_file(partition, broker, where=True)
    _drop_before(partition, broker, lambda row: row.cached, start)
    _compare_with_file(partition, broker)


def note_start_on_disk(partition: TopicPartition, broker: Broker, start: int) -> None:
    """The log starts at `start` on disk, and no earlier any more."""
    if partition.options.epoch_file == EpochFile.AT_ONCE:
        return
    _drop_before(partition, broker, lambda row: row.in_file, start)
    _compare_with_file(partition, broker)


def would_be_cut(partition: TopicPartition, broker: Broker, end: int) -> bool:
    """Truncation to `end`, not below the log's end, would drop an entry."""
    clears = partition.options.truncation_at_end_clears
    entry = some(
        all_of(row.number >= end, row.cached[broker] != NO_EPOCH) for row in partition.epoch_starts
    )
    return all_of(clears, entry)


def forget(partition: TopicPartition, broker: Broker, where: bool) -> None:
    """Where the condition holds, the log is deleted, and the file with it."""
    write(partition, broker, where)
    fetched.note_record(broker, where)
    for row in partition.epoch_starts:
        row.cached[broker] = choose(where, NO_EPOCH, row.cached[broker])


def _bring_back(partition: TopicPartition, broker: Broker, power_lost: bool, where: bool) -> None:
    """Where the condition holds, the cache is as the file: what went is back if not written.

    In 3.7 it was written, but not synced, so that only a power loss brings it back.
    """
    late = partition.options.epoch_file
    if late == EpochFile.LATER or (late == EpochFile.UNSYNCED and power_lost):
        back = all_of(where, not_(is_written(partition, broker)))
        for row in partition.epoch_starts:
            row.cached[broker] = choose(back, row.in_file[broker], row.cached[broker])


def recover(partition: TopicPartition, broker: Broker) -> None:
    """A log is longer than the file knows: its records' epochs, if later than all there, enter.

    `LogSegment.recover`, after a power loss. Where the log was cut, or before, is the recovery
    point; what is before that has its epochs in the file. Before `reload`.
    """
    if partition.options.recovery_replaces_epochs:
        read_off_records(partition, broker, 0)
        return
    _bring_back(partition, broker, power_lost=True, where=True)
    log, latest = broker.log, latest_epoch(partition, broker)
    first = smallest(
        choose(all_of(log.has(p), log[p].epoch > latest), p, log.end) for p in log.positions
    )
    for row in partition.epoch_starts:
        row.in_file[broker] = NO_EPOCH
        row.cached[broker] = choose(row.number < first, row.cached[broker], NO_EPOCH)
    for offset in partition.offsets:
        row = partition.epoch_starts[offset.number]
        read = epoch_by_records(broker, offset.number, first)
        row.cached[broker] = choose(offset.number < first, row.cached[broker], read)


def reload(partition: TopicPartition, broker: Broker, power_lost: bool, where: bool = True) -> None:
    """Where the condition holds, what the cache holds when the log is loaded again.

    That is what the file has, up to the log's end: an epoch without records is lost
    (`LogLoader.load`). The file is late for that, too, which is dead if it is not loaded again.
    """
    _bring_back(partition, broker, power_lost, where)
    _keep_in_file(partition, broker, where)
    broker.epochs_cut_last = choose(where, False, broker.epochs_cut_last)
    for row in partition.epoch_starts:
        goes = all_of(where, row.number >= broker.log.end)
        row.cached[broker] = choose(goes, NO_EPOCH, row.cached[broker])
    _compare_with_file(partition, broker)
    if partition.options.epoch_file != EpochFile.AT_ONCE:
        write(partition, broker, where=all_of(where, not_(_may_stop(partition, broker))))
    fetched.take_from_cache(broker, where)
    broker.fetch_answered = choose(where, False, broker.fetch_answered)


def _starts_at(broker: Broker, offset: int, first: int) -> bool:
    """Of the records at `first` and later, the one at `offset` is the first of its epoch."""
    log = broker.log
    before = some(
        all_of(first <= p, p < offset, log[p].epoch == log[offset].epoch) for p in log.positions
    )
    return all_of(first <= offset, log.has(offset), not_(before))


def epoch_by_records(broker: Broker, offset: int, first: int) -> int:
    """The epoch that starts at `offset`, as the records at `first` and later have it."""
    return choose(_starts_at(broker, offset, first), broker.log[offset].epoch, NO_EPOCH)


def read_off_records(partition: TopicPartition, broker: Broker, first: int) -> None:
    """Build the cache from the records at `first` and later alone (`LogSegment.recover`)."""
    forget(partition, broker, where=True)
    for offset in partition.offsets:
        read = epoch_by_records(broker, offset.number, first)
        partition.epoch_starts[offset.number].cached[broker] = read


def forgets_fetched_epochs(partition: TopicPartition) -> bool:
    """An empty answer makes a follower forget what it fetched last (KAFKA-15510), which can matter.

    Where answers arrive at once, the leader's epoch is still the one in which it has compared.
    """
    options = partition.options
    travel = options.fetch_answers.travel
    return is_kept(partition) and travel and not options.empty_answer_keeps_epoch


def would_forget(partition: TopicPartition, follower: Broker) -> bool:
    """An empty answer to the follower is its first in this leader epoch."""
    if not forgets_fetched_epochs(partition):
        return False
    return not_(follower.fetch_answered)


def note_answer(partition: TopicPartition, follower: Broker, record: bool) -> None:
    """The follower takes an answer: an empty one, if the first, leaves it without an epoch."""
    if not forgets_fetched_epochs(partition):
        return
    forgotten = any_of(follower.fetched_epoch_forgotten, not_(follower.fetch_answered))
    follower.fetched_epoch_forgotten = False if record else forgotten
    follower.fetch_answered = True


def finish_writing(partition: TopicPartition, broker: Broker) -> None:
    """A clean stop: what the scheduler was given before its end is written.

    Truncation counts as later than that if nothing else was left to be written then: else a thread
    wrote that before.
    """
    if is_kept(partition) and partition.options.epoch_file == EpochFile.LATER:
        write(partition, broker, where=not_(broker.epochs_cut_last))


def begin_to_fetch(partition: TopicPartition, follower: Broker, where: bool) -> None:
    """In a new leader epoch, a follower starts from what its cache says."""
    if is_kept(partition) and partition.options.epoch_file == EpochFile.LATER:
        follower.epochs_cut_last = choose(where, False, follower.epochs_cut_last)
    fetched.take_from_cache(follower, where)
    follower.fetch_answered = choose(where, False, follower.fetch_answered)
