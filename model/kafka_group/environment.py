"""What happens to the topic and to the committed offsets besides."""

from __future__ import annotations

from model.kafka_group.bounds import OFFSET_EXPIRIES, PARTITION_ADDITIONS, TRUNCATIONS
from model.kafka_group.state import NO_OFFSET, Group, Offset, Partition
from model.language import action, choose, minimum, not_, require, some, spend


@action(
    "an operator adds a partition to the topic",
    at="the application",
    since="0.8.1",
)
def operator_add_partition(group: Group) -> None:
    """The topic has one more partition, and a group reads it that does not know of it yet."""
    require(some(not_(row.holders.is_empty) for row in group.partitions))

    spend(group, PARTITION_ADDITIONS)


@action(
    "{partition} loses its records from {end} on",
    at="SubscriptionState.maybeCompleteValidation",
    since="2.3.0",
    about="KIP-320, KAFKA-7747",
)
def partition_truncate(group: Group, partition: Partition, end: Offset) -> None:
    """An unclean election, say: another leader has less. Who reads it goes on there (KIP-320)."""
    require(end < partition.log.end)

    spend(group, TRUNCATIONS)
    partition.log.truncate_to(end)
    partition.cut = choose(partition.committed > end, end, partition.cut)
    partition.owed_from = minimum(partition.owed_from, end)
    for consumer in group.consumers:
        partition.position[consumer] = minimum(partition.position[consumer], end)
        partition.done[consumer] = minimum(partition.done[consumer], end)


@action(
    "the committed offset of {partition} expires",
    at="OffsetMetadataManager.cleanupExpiredOffsets",
    since="0.9.0.0",
    about="KAFKA-4682, KIP-211",
    settings="offsets.expire.in.use",
)
def coordinator_expire_offset(group: Group, partition: Partition) -> None:
    """An offset that was committed long ago is forgotten, though the group has members.

    Up to 2.0 an offset expired so long after its commit; since 2.1 only after the group is empty
    (KIP-211), which is by design and not here.
    """
    require(group.options.offsets_expire_in_use)
    require(group.has_members, partition.committed != NO_OFFSET)

    spend(group, OFFSET_EXPIRIES)
    partition.committed = NO_OFFSET
    partition.cut = NO_OFFSET
