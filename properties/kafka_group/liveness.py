"""What a consumer group does in the end, on every fair run."""

from __future__ import annotations

from model.kafka_group.state import Group, Partition
from model.language import all_of, not_, some
from properties.liveness import Liveness, leads_to


def has_no_owner(group: Group, row: Partition) -> bool:
    """A consumer lives, and no member that does holds the partition."""
    return all_of(
        group.exists(row),
        some(consumer.is_up for consumer in group.consumers),
        not_(
            some(
                all_of(row.holders.contains(consumer), consumer.is_known)
                for consumer in group.consumers
            )
        ),
    )


@leads_to(
    "every_partition_is_owned_again",
    "a partition that no member holds is held by one again, as long as a consumer lives",
    has_no_owner,
    of="partitions",
    broken_by="a coordinator that never notices that a member is dead",
)
def every_partition_is_owned_again(group: Group, row: Partition) -> bool:
    """Else its records wait for ever."""
    return not_(has_no_owner(group, row))


def waits(group: Group, row: Partition) -> bool:
    """A consumer lives, and a record of the partition, which the group owes, is not processed."""
    return all_of(
        some(consumer.is_up for consumer in group.consumers),
        some(
            all_of(row.log.has(offset), offset >= row.owed_from, row.log[offset].processed == 0)
            for offset in row.log.positions
        ),
    )


@leads_to(
    "records_are_processed",
    "a record is processed, as long as a consumer lives",
    waits,
    of="partitions",
    broken_by="kafka_group consumer.commits=before_processing",
)
def records_are_processed(group: Group, row: Partition) -> bool:
    """At least once, and in the end."""
    return not_(waits(group, row))


KAFKA_GROUP_LIVENESS: tuple[Liveness, ...] = (
    every_partition_is_owned_again,
    records_are_processed,
)
