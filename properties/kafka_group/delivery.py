"""What is read, how often, and which offsets are committed."""

from __future__ import annotations

from model.kafka_group.offsets import accepts
from model.kafka_group.settings import Commits, GroupProtocol, OffsetReset
from model.kafka_group.state import MEMBER, NO_OFFSET, Group, Partition
from model.language import Model, all_of, any_of, every, implies, not_, some
from properties.claims import always


def was_processed(row: Partition, offset: int) -> bool:
    """The group has processed the record there, or owes nothing of it."""
    return any_of(not_(row.log.has(offset)), row.log[offset].processed > 0, offset < row.owed_from)


def something_is_done(group: Group) -> bool:
    """A member is past a record."""
    return some(
        all_of(row.holders.contains(consumer), row.done[consumer] > row.owed_from)
        for row in group.partitions
        for consumer in group.consumers
    )


def processes_all(model: Model) -> bool:
    """Offsets are committed after processing, and who finds none begins at the earliest record.

    With `latest` a member that dies before it has ever committed takes with it where it began.
    """
    settings = model.settings
    return bool(
        settings.consumer_commits == Commits.AFTER
        and settings.auto_offset_reset == OffsetReset.EARLIEST
    )


@always(
    "no_record_skipped",
    "the group has processed every record below the offset that a consumer is at",
    premise=something_is_done,
    failure="{consumer} is past offset {offset} of {row}, and nobody has processed it",
    breach="skips a record",
    broken_by="kafka_group consumer.commits=before_processing",
    promised=processes_all,
)
def no_record_skipped(group: Group) -> bool:
    """At least once, over any number of rebalances."""
    return every(
        implies(
            all_of(row.holders.contains(consumer), offset < row.done[consumer]),
            was_processed(row, offset),
        )
        for row in group.partitions
        for consumer in group.consumers
        for offset in row.log.positions
    )


@always(
    "committed_was_processed",
    "every record below a committed offset was processed",
    premise=lambda g: some(row.committed > row.owed_from for row in g.partitions),
    failure="offset {offset} of {row} is below the committed one, and nobody has processed it",
    breach="commits the offset of a record that nobody processed",
    broken_by="kafka_group consumer.commits=before_processing",
    promised=processes_all,
)
def committed_was_processed(group: Group) -> bool:
    """Who begins there skips nothing. An offset that was cut off is another's."""
    return every(
        implies(
            all_of(offset < row.committed, row.cut == NO_OFFSET),
            was_processed(row, offset),
        )
        for row in group.partitions
        for offset in row.log.positions
    )


@always(
    "no_record_processed_twice",
    "the group processes no record twice",
    premise=something_is_done,
    failure="offset {offset} of {row} was processed twice",
    breach="processes a record twice",
    broken_by="kafka_group",
    promised=lambda _: False,
)
def no_record_processed_twice(group: Group) -> bool:
    """At most once: what offsets alone do not promise."""
    return every(
        row.log[offset].processed < 2 for row in group.partitions for offset in row.log.positions
    )


def nothing_failed(group: Group) -> bool:
    """No process died, no member was taken for dead, no commit was lost, nothing was cut off."""
    spent = group.spent
    return all_of(
        spent.member_crashes == 0,
        spent.session_timeouts == 0,
        spent.lost_commits == 0,
        spent.truncations == 0,
        spent.offset_expiries == 0,
    )


@always(
    "a_rebalance_repeats_nothing",
    "as long as nothing fails no record is processed twice, however often the group rebalances",
    premise=lambda g: all_of(nothing_failed(g), something_is_done(g)),
    failure="nothing has failed, and offset {offset} of {row} was processed twice",
    breach="processes a record twice though nothing failed",
    broken_by="kafka_group revocation.stops.fetching=false",
    promised=lambda model: bool(model.settings.commit_on_revocation),
)
def a_rebalance_repeats_nothing(group: Group) -> bool:
    """What the commit before a revocation is for."""
    return every(
        implies(nothing_failed(group), row.log[offset].processed < 2)
        for row in group.partitions
        for offset in row.log.positions
    )


@always(
    "commits_do_not_go_back",
    "no committed offset becomes less",
    of_steps=True,
    premise=lambda g: some(row.committed > row.owed_from for row in g.partitions),
    failure="the committed offset of {row} goes back",
    breach="moves a committed offset back",
    broken_by="kafka_group commit.checks.generation=false",
)
def commits_do_not_go_back(before: Group, after: Group) -> bool:
    """A commit of a member that was fenced is refused. But for an offset that was cut off."""
    return every(
        any_of(
            after.partitions[row].committed >= row.committed,
            row.cut != NO_OFFSET,
            after.spent.offset_expiries != before.spent.offset_expiries,
        )
        for row in before.partitions
    )


def has_epochs(model: Model) -> bool:
    """Commits are judged by the epoch since which a member has a partition."""
    return bool(
        model.settings.group_protocol == GroupProtocol.CONSUMER
        and model.settings.commit_by_assignment_epoch
    )


@always(
    "an_owners_commit_is_accepted",
    "the coordinator accepts an offset commit of a member that holds a partition assigned to it",
    premise=something_is_done,
    failure="{consumer} owns {row}, and its commit would be refused",
    breach="refuses a commit of a partition's owner",
    broken_by="kafka_group group.protocol=consumer commit.by.assignment.epoch=false",
    promised=has_epochs,
)
def an_owners_commit_is_accepted(group: Group) -> bool:
    """Even if its member epoch is older than the coordinator's."""
    return every(
        implies(
            all_of(
                consumer.is_known,
                consumer.phase == MEMBER,
                row.holders.contains(consumer),
                row.assigned.contains(consumer),
                row.told.contains(consumer),
            ),
            accepts(group, row, consumer),
        )
        for row in group.partitions
        for consumer in group.consumers
    )
