"""Who owns a partition: what the coordinator says, and what consumers believe."""

from __future__ import annotations

from model.kafka_group.state import STABLE, Consumer, Group, Partition
from model.language import Model, SetOf, all_of, count, every, implies, not_, some
from properties.claims import always


def has(row: Partition, consumer: Consumer) -> bool:
    """The coordinator has given the partition to the consumer, and it has not given it back."""
    return row.assigned.contains(consumer) | row.revoking.contains(consumer)


def something_is_assigned(group: Group) -> bool:
    """Some partition has an owner."""
    return some(not_(row.assigned.is_empty) for row in group.partitions)


@always(
    "one_owner_in_a_generation",
    "the coordinator gives no partition to two members",
    premise=something_is_assigned,
    failure="{row} is given to both {one} and {other}",
    breach="assigns a partition to two members",
    broken_by="kafka_group partition.assignment.strategy=sticky sticky.claims=every",
)
def one_owner_in_a_generation(group: Group) -> bool:
    """What an assignment is for."""
    return every(
        implies(one != other, not_(all_of(has(row, one), has(row, other))))
        for row in group.partitions
        for one in group.consumers
        for other in group.consumers
    )


def two_members_hold_partitions(group: Group) -> bool:
    """Two members have a partition each."""
    return some(
        all_of(
            one != other,
            one.is_known,
            other.is_known,
            some(row.holders.contains(one) for row in group.partitions),
            some(row.holders.contains(other) for row in group.partitions),
        )
        for one in group.consumers
        for other in group.consumers
    )


@always(
    "handed_over_after_revocation",
    "no member begins with a partition before the member that had it has given it up",
    premise=two_members_hold_partitions,
    failure="{one} and {other}, members both, hold {row}",
    breach="hands a partition over before it is given up",
    broken_by="kafka_group partition.assignment.strategy=cooperative-sticky "
    "sticky.claims=newest_members",
)
def handed_over_after_revocation(group: Group) -> bool:
    """Of those that the coordinator has as members; a zombie is none."""
    return every(
        implies(
            all_of(one != other, one.is_known, other.is_known),
            not_(all_of(row.holders.contains(one), row.holders.contains(other))),
        )
        for row in group.partitions
        for one in group.consumers
        for other in group.consumers
    )


@always(
    "one_consumer_at_a_time",
    "no two consumers read a partition at once",
    premise=two_members_hold_partitions,
    failure="{one} and {other} both hold {row}",
    breach="lets two consumers read one partition",
    broken_by="kafka_group",
    promised=lambda _: False,
)
def one_consumer_at_a_time(group: Group) -> bool:
    """Zombies counted: what no setting of a group promises."""
    return every(
        implies(one != other, not_(all_of(row.holders.contains(one), row.holders.contains(other))))
        for row in group.partitions
        for one in group.consumers
        for other in group.consumers
    )


def is_settled(group: Group) -> bool:
    """A classic group has its assignment, and no member wants another."""
    return all_of(
        group.coordinator.state == STABLE,
        every(not_(consumer.wants_rejoin) for consumer in group.consumers),
        every(
            implies(not_(row.assigned.contains(consumer)), not_(row.holders.contains(consumer)))
            for row in group.partitions
            for consumer in group.consumers
        ),
    )


def assigns_at_once(model: Model) -> bool:
    """Every assignment is of all partitions: a classic group whose members are eager."""
    return bool(
        model.settings.group_protocol == "classic"
        and model.settings.assignor != "cooperative-sticky"
    )


@always(
    "every_partition_is_assigned",
    "a stable group has given every partition that its leader knows of to a member",
    premise=is_settled,
    failure="nobody is given {row}",
    breach="leaves a partition without a member",
    broken_by="kafka_group partition.assignment.strategy=cooperative-sticky",
    promised=assigns_at_once,
)
def every_partition_is_assigned(group: Group) -> bool:
    """Else records wait for nobody."""
    return every(
        implies(
            all_of(group.coordinator.state == STABLE, row.number < group.coordinator.partitions),
            not_(row.assigned.is_empty),
        )
        for row in group.partitions
    )


def share(group: Group, consumer: Consumer, aims: bool) -> int:
    """How many partitions the consumer is given, or is to have in the end."""
    return count(_owners(row, aims).contains(consumer) for row in group.partitions)


def _owners(row: Partition, aims: bool) -> SetOf[Consumer]:
    return row.target if aims else row.assigned


@always(
    "shares_are_even",
    "no member is given two partitions more than another",
    premise=something_is_assigned,
    failure="{one} is given two partitions more than {other}",
    breach="assigns one member two partitions more than another",
    broken_by="kafka_group partition.assignment.strategy=cooperative-sticky",
    promised=lambda model: assigns_at_once(model) or model.settings.group_protocol == "consumer",
)
def shares_are_even(group: Group) -> bool:
    """One topic, to which all subscribe: of that every assignor makes even shares."""
    aims = not group.is_classic
    return every(
        implies(
            all_of(group.coordinator.state == STABLE, one.is_known, other.is_known),
            share(group, one, aims) <= share(group, other, aims) + 1,
        )
        for one in group.consumers
        for other in group.consumers
    )
