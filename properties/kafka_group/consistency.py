"""What the parts of a group's state say of each other: dead values are blank, and ids are few."""

from __future__ import annotations

from model.kafka_group.state import (
    COMPLETING,
    EMPTY,
    JOINING,
    MEMBER,
    NO_RANK,
    OUTSIDE,
    PREPARING,
    Consumer,
    Group,
)
from model.language import all_of, any_of, every, implies, not_, some
from properties.claims import always


@always(
    "positions_are_of_owned_partitions",
    "a consumer has a position only in a partition that it holds, at most one record ahead of what "
    "it has processed",
    premise=lambda g: some(not_(row.holders.is_empty) for row in g.partitions),
    failure="{consumer} has a position in {row} that it cannot have",
    breach="keeps a position in a partition that was given up",
    broken_by="a consumer that keeps the positions of what it gives up",
)
def positions_are_of_owned_partitions(group: Group) -> bool:
    """A position that is left over would be where the consumer begins the next time."""
    return every(
        any_of(
            all_of(
                row.holders.contains(consumer),
                consumer.is_member,
                row.done[consumer] <= row.position[consumer],
                row.position[consumer] <= row.done[consumer] + 1,
                row.position[consumer] <= row.log.end,
                not_(row.under_way.contains(consumer)),
            ),
            all_of(
                not_(row.holders.contains(consumer)),
                row.position[consumer] == 0,
                row.done[consumer] == 0,
                implies(row.under_way.contains(consumer), consumer.phase == MEMBER),
            ),
        )
        for row in group.partitions
        for consumer in group.consumers
    )


def has_left_nothing(group: Group, consumer: Consumer) -> bool:
    """The coordinator keeps nothing of the consumer, except in a classic assignment."""
    return all_of(
        consumer.claims_of == 0,
        consumer.epoch == 0,
        not_(group.coordinator.joined.contains(consumer)),
        every(
            not_(
                any_of(
                    row.claimed.contains(consumer),
                    row.revoking.contains(consumer),
                    row.target.contains(consumer),
                    False if group.is_classic else row.assigned.contains(consumer),
                )
            )
            for row in group.partitions
        ),
    )


@always(
    "the_coordinator_knows_its_members",
    "each member has a member id of its own, and the coordinator keeps nothing of former members",
    premise=lambda g: g.has_members,
    failure="{consumer}, of rank {consumer.rank}, is not what the coordinator has recorded of it",
    breach="keeps state of a member that is gone",
    broken_by="a coordinator that keeps what it had of a member that it has removed",
)
def the_coordinator_knows_its_members(group: Group) -> bool:
    """A consumer outside has no member id, and a group with members is not Empty."""
    state = group.coordinator
    return all_of(
        (state.state == EMPTY) == not_(group.has_members),
        (state.partitions == 0) | group.has_members,
        every(
            all_of(
                implies(consumer.phase == OUTSIDE, not_(consumer.is_known)),
                implies(consumer.rank == NO_RANK, has_left_nothing(group, consumer)),
                consumer.generation <= group.bound("generations"),
                consumer.epoch <= state.generation,
            )
            for consumer in group.consumers
        ),
        every(
            implies(all_of(one != other, one.is_known), one.rank != other.rank)
            for one in group.consumers
            for other in group.consumers
        ),
    )


@always(
    "a_rebalance_leaves_nothing_behind",
    "the coordinator waits for every consumer that is joining, and a group without a rebalance "
    "keeps nothing of one",
    premise=lambda g: g.has_members,
    failure="{consumer} does not fit the coordinator's state of the rebalance",
    breach="keeps state of a rebalance that is over",
    broken_by="a member that does not forget its generation",
)
def a_rebalance_leaves_nothing_behind(group: Group) -> bool:
    """`joined` is of a rebalance under way, and only members that joined have `claimed`."""
    state = group.coordinator
    moving = any_of(state.state == PREPARING, state.state == COMPLETING)
    return all_of(
        any_of(moving, state.joined.is_empty),
        every(
            all_of(
                implies(
                    all_of(consumer.phase == JOINING, consumer.is_known),
                    all_of(state.state == PREPARING, state.joined.contains(consumer)),
                ),
                implies(not_(state.joined.contains(consumer)), consumer.claims_of == 0),
                implies(consumer.wants_rejoin, consumer.phase == MEMBER),
                implies(
                    not_(consumer.is_member),
                    all_of(consumer.generation == 0, not_(consumer.committed_to_rejoin)),
                ),
            )
            for consumer in group.consumers
        ),
        every(
            implies(row.claimed.contains(consumer), state.joined.contains(consumer))
            for row in group.partitions
            for consumer in group.consumers
        ),
    )


@always(
    "what_is_polled_is_processed",
    "a live consumer gives up no partition of which it has a polled record still to process",
    of_steps=True,
    premise=lambda g: some(
        row.done[consumer] < row.position[consumer]
        for row in g.partitions
        for consumer in g.consumers
    ),
    failure="{consumer} gives up {row}, of which it has a record to process",
    breach="gives up a partition with a record still to process",
    broken_by="a consumer whose heartbeats give up what its application is at",
)
def what_is_polled_is_processed(before: Group, after: Group) -> bool:
    """Rebalances are part of a poll: the application has done its work by then."""
    return every(
        implies(
            all_of(row.done[consumer] < row.position[consumer], after.consumers[consumer].is_up),
            after.partitions[row].holders.contains(consumer),
        )
        for row in before.partitions
        for consumer in before.consumers
    )


@always(
    "every_partition_has_one_target_member",
    "with group.protocol=consumer the target assignment has every partition at one member, and an "
    "assigned one has its owner's epoch",
    premise=lambda g: g.has_members,
    failure="{row} has not one target member, or its epoch is not that of its owner",
    breach="has a partition without one target member",
    broken_by="a coordinator that does not work out the target anew",
    promised=lambda model: bool(model.settings.group_protocol == "consumer"),
)
def every_partition_has_one_target_member(group: Group) -> bool:
    """The target assignment is what members are reconciled to."""
    return every(
        all_of(
            implies(
                all_of(group.has_members, row.number < group.coordinator.partitions),
                row.target.size == 1,
            ),
            (row.assigned_epoch == 0) == all_of(row.assigned.is_empty, row.revoking.is_empty),
            row.assigned_epoch <= group.coordinator.generation,
            every(
                implies(row.target.contains(consumer), consumer.is_known)
                for consumer in group.consumers
            ),
        )
        for row in group.partitions
    )
