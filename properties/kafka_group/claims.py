"""The consumer group's properties, in order, and its witnesses: what it must be able to do.

`assignment` says who owns what, `delivery` what is read and committed, `consistency` what the parts
of the state say of each other.
"""

from __future__ import annotations

from model.kafka_group.state import MEMBER, STABLE, Group
from model.language import all_of, every, some
from properties.claims import Property, sometimes
from properties.kafka_group import assignment, consistency, delivery


@sometimes("all_are_members", "every consumer is a member, and has an assignment")
def all_are_members(group: Group) -> bool:
    """Without that, nothing would be shared."""
    return every(
        all_of(consumer.is_known, consumer.phase == MEMBER) for consumer in group.consumers
    )


@sometimes("an_offset_is_committed", "a member commits that it has processed a record")
def an_offset_is_committed(group: Group) -> bool:
    """Without that, every rebalance would begin anew."""
    return some(row.committed > row.owed_from for row in group.partitions)


@sometimes(
    "a_partition_changes_hands", "a member goes on where another has committed", of_steps=True
)
def a_partition_changes_hands(before: Group, after: Group) -> bool:
    """It begins with a partition at an offset that it has not committed itself."""
    return some(
        all_of(
            row.holders.is_empty,
            row.committed > row.owed_from,
            after.partitions[row].holders.contains(consumer),
        )
        for row in before.partitions
        for consumer in before.consumers
    )


@sometimes("a_member_commits_at_work", "a member commits, and goes on", of_steps=True)
def a_member_commits_at_work(before: Group, after: Group) -> bool:
    """Not only because it has to give a partition up."""
    return some(
        all_of(
            after.partitions[row].committed > row.committed,
            row.holders.contains(consumer),
            after.partitions[row].holders.contains(consumer),
            before.consumers[consumer].phase == MEMBER,
            after.consumers[consumer].phase == MEMBER,
            before.coordinator.state == STABLE,
        )
        for row in before.partitions
        for consumer in before.consumers
    )


KAFKA_GROUP_PROPERTIES: tuple[Property, ...] = (
    assignment.one_owner_in_a_generation,
    assignment.handed_over_after_revocation,
    assignment.one_consumer_at_a_time,
    assignment.every_partition_is_assigned,
    assignment.shares_are_even,
    delivery.no_record_skipped,
    delivery.committed_was_processed,
    delivery.no_record_processed_twice,
    delivery.a_rebalance_repeats_nothing,
    delivery.commits_do_not_go_back,
    delivery.an_owners_commit_is_accepted,
    consistency.positions_are_of_owned_partitions,
    consistency.the_coordinator_knows_its_members,
    consistency.a_rebalance_leaves_nothing_behind,
    consistency.what_is_polled_is_processed,
    consistency.every_partition_has_one_target_member,
    all_are_members,
    an_offset_is_committed,
    a_partition_changes_hands,
    a_member_commits_at_work,
)
