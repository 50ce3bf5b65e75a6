"""The consumer protocol (KIP-848): heartbeats by which each member comes to the target by itself.

`GroupMetadataManager` and `CurrentAssignmentBuilder`, and in the consumer
`AbstractMembershipManager`. The answer to a heartbeat is a step of its own: until then the member
has an older epoch than the coordinator has of it. An answer that is lost is one that comes later.
"""

from __future__ import annotations

from model.kafka_group.bounds import FULL_HEARTBEATS, LOST_COMMITS
from model.kafka_group.membership import is_free_rank, may_change, start_group_epoch
from model.kafka_group.offsets import accepts, commit_before, give_up, take
from model.kafka_group.state import MEMBER, OUTSIDE, Consumer, Group, Partition, Rank
from model.language import (
    action,
    all_of,
    any_of,
    choose,
    every,
    implies,
    not_,
    require,
    some,
    spend,
)


def is_free(group: Group, row: Partition, consumer: Consumer) -> bool:
    """No member but this one has the partition, or has still to give it up.

    `currentPartitionEpoch` of `CurrentAssignmentBuilder`: an epoch of -1.
    """
    return every(
        implies(
            any_of(row.assigned.contains(other), row.revoking.contains(other)), other == consumer
        )
        for other in group.consumers
    )


def is_settled(group: Group, consumer: Consumer) -> bool:
    """The consumer holds what it was told, and its heartbeats say so.

    Else it is on the way there, and its heartbeats name nothing: the coordinator takes it that it
    owns what it had (`HeartbeatState.buildRequestData`, `ownsRevokedPartitions`).
    """
    return every(
        all_of(
            row.holders.contains(consumer) == row.told.contains(consumer),
            not_(row.under_way.contains(consumer)),
        )
        for row in group.partitions
    )


def _seems_to_own(group: Group, row: Partition, consumer: Consumer, in_full: bool) -> bool:
    """By its heartbeat, which may name all that it owns, the consumer has the partition still."""
    if in_full:
        owned = row.holders.contains(consumer)
        if group.options.reconciling_is_named:
            return any_of(owned, row.told.contains(consumer), row.under_way.contains(consumer))
        return owned
    return any_of(row.holders.contains(consumer), not_(is_settled(group, consumer)))


def _reconcile(group: Group, consumer: Consumer, in_full: bool) -> None:
    """`CurrentAssignmentBuilder.computeNextAssignment`: what the member may have next.

    As long as it has to give something up it stays in its epoch. Then it comes to the target's,
    with what is free; the rest it gets when others have given it up.
    """
    loses = some(
        all_of(
            row.assigned.contains(consumer),
            not_(row.target.contains(consumer)),
            _seems_to_own(group, row, consumer, in_full),
        )
        for row in group.partitions
    )
    for row in group.partitions:
        has = row.assigned.contains(consumer)
        wanted = row.target.contains(consumer)
        gets = all_of(not_(loses), wanted, not_(has), is_free(group, row, consumer))
        keeps = any_of(all_of(has, wanted), gets)
        row.revoking = choose(
            all_of(loses, has, not_(wanted)),
            row.revoking.with_member(consumer),
            row.revoking.without_member(consumer),
        )
        row.assigned = choose(
            keeps, row.assigned.with_member(consumer), row.assigned.without_member(consumer)
        )
        nobody = all_of(row.assigned.is_empty, row.revoking.is_empty)
        row.assigned_epoch = choose(
            gets, group.coordinator.generation, choose(nobody, 0, row.assigned_epoch)
        )
    consumer.epoch = choose(loses, consumer.epoch, group.coordinator.generation)


def _may_progress(group: Group, consumer: Consumer, in_full: bool) -> bool:
    """A heartbeat would change what the coordinator has of the member."""
    owns_revoked = some(
        all_of(row.revoking.contains(consumer), _seems_to_own(group, row, consumer, in_full))
        for row in group.partitions
    )
    is_behind = consumer.epoch != group.coordinator.generation
    may_get = some(
        all_of(
            row.target.contains(consumer),
            not_(row.assigned.contains(consumer)),
            is_free(group, row, consumer),
        )
        for row in group.partitions
    )
    return all_of(not_(owns_revoked), any_of(is_behind, may_get))


@action(
    "{consumer} joins the group by a heartbeat; its member id sorts at {rank}",
    at="GroupMetadataManager.consumerGroupHeartbeat",
    since="3.7.0",
    about="KIP-848",
    settings="group.protocol",
)
def consumer_join_by_heartbeat(group: Group, consumer: Consumer, rank: Rank) -> None:
    """Epoch 0: a new member, a new group epoch and a new target."""
    require(not group.is_classic)
    require(consumer.phase == OUTSIDE, not_(consumer.is_known))
    require(is_free_rank(group, rank), may_change(group))

    consumer.rank = rank
    start_group_epoch(group)
    consumer.phase = MEMBER
    _reconcile(group, consumer, False)


@action(
    "the coordinator handles a heartbeat of {consumer} and reconciles it",
    at="CurrentAssignmentBuilder.build",
    since="3.7.0",
    about="KIP-848",
    settings="group.protocol",
)
def coordinator_handle_heartbeat(group: Group, consumer: Consumer) -> None:
    """The member names its epoch, and what it owns once it has come to it."""
    require(not group.is_classic)
    require(consumer.phase == MEMBER, consumer.is_known)
    require(_is_up_to_date(group, consumer), _may_progress(group, consumer, False))

    _reconcile(group, consumer, False)


@action(
    "the coordinator handles a full heartbeat of {consumer} and reconciles it",
    at="CurrentAssignmentBuilder.build",
    since="3.7.0",
    about="KIP-848",
    settings="reconciling.is.named",
)
def coordinator_handle_full_heartbeat(group: Group, consumer: Consumer) -> None:
    """The heartbeat after one that failed names all, also while the member is on its way.

    Then it names what it had before: what it is about to begin with is not among that.
    """
    require(not group.is_classic)
    require(consumer.phase == MEMBER, consumer.is_known, not_(is_settled(group, consumer)))
    require(_is_up_to_date(group, consumer), _may_progress(group, consumer, True))

    spend(group, FULL_HEARTBEATS)
    _reconcile(group, consumer, True)


def _is_up_to_date(group: Group, consumer: Consumer) -> bool:
    """The member has heard all that the coordinator has to say to it."""
    return all_of(
        consumer.generation == consumer.epoch,
        every(
            row.told.contains(consumer) == row.assigned.contains(consumer)
            for row in group.partitions
        ),
    )


@action(
    "{consumer} receives its epoch and target assignment",
    at="ConsumerMembershipManager.onHeartbeatSuccess",
    since="3.7.0",
    about="KIP-848",
    settings="group.protocol",
)
def consumer_hear_heartbeat(group: Group, consumer: Consumer) -> None:
    """The answer to its heartbeat, or to the next one if that was lost."""
    _require_news(group, consumer)

    _hear(group, consumer)


@action(
    "{consumer} receives its target assignment while it reconciles another",
    at="AbstractMembershipManager.maybeAbortReconciliation",
    since="3.7.0",
    about="KIP-848",
    settings="group.protocol",
)
def consumer_hear_on_the_way(group: Group, consumer: Consumer) -> None:
    """A reconciliation ends with what it began with (`maybeAbortReconciliation`)."""
    _require_news(group, consumer)
    require(not_(some(row.under_way.contains(consumer) for row in group.partitions)))
    require(
        some(
            all_of(_is_new(row, consumer), not_(row.assigned.contains(consumer)))
            for row in group.partitions
        )
    )

    for row in group.partitions:
        begun = _is_new(row, consumer)
        row.under_way = choose(begun, row.under_way.with_member(consumer), row.under_way)
    _hear(group, consumer)


def _require_news(group: Group, consumer: Consumer) -> None:
    require(not group.is_classic)
    require(consumer.phase == MEMBER, consumer.is_known)
    require(not_(_is_up_to_date(group, consumer)))


def _hear(group: Group, consumer: Consumer) -> None:
    consumer.generation = consumer.epoch
    for row in group.partitions:
        row.told = choose(
            row.assigned.contains(consumer),
            row.told.with_member(consumer),
            row.told.without_member(consumer),
        )


def gives_up(row: Partition, consumer: Consumer) -> bool:
    """The consumer holds what is not to be its own any more."""
    return all_of(
        row.holders.contains(consumer),
        not_(row.told.contains(consumer)),
        not_(row.under_way.contains(consumer)),
    )


@action(
    "{consumer} revokes partitions that it is no longer assigned",
    at="AbstractMembershipManager.maybeReconcile",
    since="3.7.0",
    about="KIP-848",
    settings="commit.on.revocation, commit.by.assignment.epoch",
)
def consumer_revoke(group: Group, consumer: Consumer) -> None:
    """Commit, and give up. A commit that is refused for its epoch is tried again with the next."""
    require(not group.is_classic)
    require(consumer.phase == MEMBER, group.is_idle(consumer))
    require(some(gives_up(row, consumer) for row in group.partitions))
    if group.options.commit_on_revocation:
        require(_commits_count(group, consumer))

    for row in group.partitions:
        where = gives_up(row, consumer)
        commit_before(group, row, consumer, where)
        give_up(row, consumer, where)


def _commits_count(group: Group, consumer: Consumer) -> bool:
    """What the consumer is to give up would be committed, or it is no member."""
    return every(
        implies(all_of(gives_up(row, consumer), consumer.is_known), accepts(group, row, consumer))
        for row in group.partitions
    )


@action(
    "{consumer} revokes partitions that it is no longer assigned; its commit is lost",
    at="AbstractMembershipManager.maybeReconcile",
    since="3.7.0",
    about="KIP-848",
    settings="commit.on.revocation",
)
def consumer_revoke_uncommitted(group: Group, consumer: Consumer) -> None:
    """The commit before the revocation fails, or times out."""
    require(not group.is_classic)
    require(group.options.commit_on_revocation)
    require(consumer.phase == MEMBER, group.is_idle(consumer))
    require(some(gives_up(row, consumer) for row in group.partitions))

    spend(group, LOST_COMMITS)
    for row in group.partitions:
        give_up(row, consumer, gives_up(row, consumer))


@action(
    "{consumer} starts on its newly assigned partitions",
    at="AbstractMembershipManager.revokeAndAssign",
    since="3.7.0",
    about="KIP-848",
    settings="auto.offset.reset",
)
def consumer_take_assignment(group: Group, consumer: Consumer) -> None:
    """It holds nothing that it has to give up, and begins to read what it was told, now or when it
    began to reconcile.
    """
    require(not group.is_classic)
    require(consumer.phase == MEMBER)
    require(not_(some(gives_up(row, consumer) for row in group.partitions)))
    require(some(_is_new(row, consumer) for row in group.partitions))

    for row in group.partitions:
        take(group, row, consumer, _is_new(row, consumer))
        row.under_way = row.under_way.without_member(consumer)


def _is_new(row: Partition, consumer: Consumer) -> bool:
    return all_of(
        any_of(row.told.contains(consumer), row.under_way.contains(consumer)),
        not_(row.holders.contains(consumer)),
    )


@action(
    "the coordinator sees new partitions",
    at="GroupMetadataManager.onMetadataUpdate",
    since="3.7.0",
    about="KIP-848",
    settings="group.protocol",
)
def coordinator_see_new_partitions(group: Group) -> None:
    """The metadata of the topic have changed: another group epoch, and another target."""
    require(not group.is_classic)
    require(group.has_members, group.coordinator.partitions < group.partition_count)
    require(may_change(group))

    start_group_epoch(group)
