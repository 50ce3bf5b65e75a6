"""Offsets: where a member begins, which commits count, and what is given up without one."""

from __future__ import annotations

from model.kafka_group.settings import Commits, OffsetReset
from model.kafka_group.state import COMPLETING, NO_OFFSET, Consumer, Group, Partition
from model.language import all_of, any_of, choose, not_


def begin_at(group: Group, row: Partition) -> int:
    """Where a member begins that is given the partition: the committed offset, or a reset.

    An offset that was cut off: by its leader epoch it is noticed, and the member goes on at the
    cut; without one it is out of range, and reset, or in range again, and what is below is passed
    over.
    """
    committed, cut = row.committed, row.cut
    if group.options.commit_names_epoch:
        there = choose(cut == NO_OFFSET, committed, cut)
    else:
        there = choose(committed > row.log.end, reset(group, row), committed)
    return choose(committed == NO_OFFSET, reset(group, row), there)


def reset(group: Group, row: Partition) -> int:
    """`auto.offset.reset`."""
    if group.options.auto_offset_reset == OffsetReset.EARLIEST:
        return 0
    if group.options.new_partitions_from_start:
        return choose(group.is_added_later(row), 0, row.log.end)
    return row.log.end


def take(group: Group, row: Partition, consumer: Consumer, where: bool) -> None:
    """The consumer begins to hold the partition, if `where`.

    Ghost: with `latest` a group owes nothing of what was there before it first looked.
    """
    start = begin_at(group, row)
    if group.options.auto_offset_reset == OffsetReset.LATEST:
        first = all_of(where, not_(row.begun), not_(group.is_added_later(row)))
        row.owed_from = choose(first, start, row.owed_from)
        row.begun = any_of(row.begun, where)
    row.holders = choose(where, row.holders.with_member(consumer), row.holders)
    row.position[consumer] = choose(where, start, row.position[consumer])
    row.done[consumer] = choose(where, start, row.done[consumer])


def give_up(row: Partition, consumer: Consumer, where: bool) -> None:
    """The consumer holds the partition no more, if `where`."""
    row.holders = choose(where, row.holders.without_member(consumer), row.holders)
    row.position[consumer] = choose(where, 0, row.position[consumer])
    row.done[consumer] = choose(where, 0, row.done[consumer])


def give_up_all(group: Group, consumer: Consumer) -> None:
    """The consumer holds nothing any more."""
    for row in group.partitions:
        give_up(row, consumer, True)


def accepts(group: Group, row: Partition, consumer: Consumer) -> bool:
    """The coordinator takes a commit of the partition by the consumer.

    `ClassicGroup.validateOffsetCommit`: of a member, in its generation, and not while the group
    waits for its assignment. `ConsumerGroup.validateOffsetCommit`: of its member epoch, or since
    4.3 of one since which it has the partition.
    """
    if not group.options.commit_checks_generation:
        return True
    if group.is_classic:
        state = group.coordinator
        return all_of(
            consumer.is_known,
            consumer.generation == state.generation,
            state.state != COMPLETING,
        )
    current = all_of(consumer.is_known, consumer.generation == consumer.epoch)
    if not group.options.commit_by_assignment_epoch:
        return current
    has = any_of(row.assigned.contains(consumer), row.revoking.contains(consumer))
    return any_of(
        current, all_of(consumer.is_known, has, row.assigned_epoch <= consumer.generation)
    )


def commit(group: Group, row: Partition, consumer: Consumer, offset: int, where: bool) -> None:
    """Write the offset down, if `where` and the coordinator takes it."""
    taken = all_of(where, accepts(group, row, consumer))
    row.committed = choose(taken, offset, row.committed)
    row.cut = choose(taken, NO_OFFSET, row.cut)


def commit_before(group: Group, row: Partition, consumer: Consumer, where: bool) -> None:
    """What is committed before a partition is given up, if that is done at all."""
    if group.options.commit_on_revocation:
        commit(group, row, consumer, row.done[consumer], where)


def commits_first(group: Group) -> bool:
    """A consumer commits what it has polled before it has processed it."""
    return bool(group.options.consumer_commits == Commits.BEFORE)
