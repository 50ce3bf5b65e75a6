"""Members that come, die, leave or are taken for dead, and coordinators that die.

A consumer that dies or leaves may start again once the coordinator has forgotten its member id: its
next life has another. Which place a member id has among all is for nobody to choose, so any.
"""

from __future__ import annotations

from model.kafka_group.assignors import set_target
from model.kafka_group.bounds import (
    COORDINATOR_FAILOVERS,
    CRASHES,
    GENERATIONS,
    LEAVES,
    SESSION_TIMEOUTS,
)
from model.kafka_group.offsets import commit, give_up_all
from model.kafka_group.state import (
    COMPLETING,
    DOWN,
    EMPTY,
    MEMBER,
    NO_RANK,
    OUTSIDE,
    PREPARING,
    STABLE,
    Consumer,
    Group,
    Rank,
)
from model.language import action, all_of, any_of, choose, every, not_, require, spend


def blank(group: Group, consumer: Consumer) -> None:
    """The consumer has no membership and no partitions in its own view any more."""
    give_up_all(group, consumer)
    consumer.generation = 0
    consumer.wants_rejoin = False
    consumer.committed_to_rejoin = False
    for row in group.partitions:
        row.told = row.told.without_member(consumer)
        row.under_way = row.under_way.without_member(consumer)


def forget_assignment(group: Group, consumer: Consumer) -> None:
    """The process is gone, and with it what its assignor remembered."""
    consumer.assigned_in = 0
    for row in group.partitions:
        row.remembered = row.remembered.without_member(consumer)


def is_free_rank(group: Group, rank: Rank) -> bool:
    """No member id is in that place."""
    return every(other.rank != rank for other in group.consumers)


def may_change(group: Group) -> bool:
    """The bound on group epochs of the consumer protocol leaves room for another."""
    return group.is_classic or group.coordinator.generation < group.bound(GENERATIONS)


def start_group_epoch(group: Group) -> None:
    """The group of the consumer protocol has changed: another epoch, and another target."""
    state = group.coordinator
    state.generation = state.generation + 1
    state.state = choose(group.has_members, STABLE, EMPTY)
    state.partitions = choose(group.has_members, group.partition_count, 0)
    set_target(group)


def remove(group: Group, consumer: Consumer) -> None:
    """The coordinator has the consumer no more as a member, and the others are to share anew."""
    state = group.coordinator
    consumer.rank = NO_RANK
    consumer.claims_of = 0
    consumer.epoch = 0
    state.joined = state.joined.without_member(consumer)
    state.stored = state.stored.without_member(consumer)
    for row in group.partitions:
        row.claimed = row.claimed.without_member(consumer)
    if group.is_classic:
        rebalance(group, any_of(state.state == STABLE, state.state == COMPLETING))
        return
    for row in group.partitions:
        row.assigned = row.assigned.without_member(consumer)
        row.revoking = row.revoking.without_member(consumer)
        row.target = row.target.without_member(consumer)
        row.assigned_epoch = choose(
            all_of(row.assigned.is_empty, row.revoking.is_empty), 0, row.assigned_epoch
        )
    start_group_epoch(group)


def rebalance(group: Group, where: bool) -> None:
    """A classic group waits for all its members to join again, if `where`; without any it is empty.

    Nobody has joined yet. The assignment of the generation before counts until there is another.
    """
    state = group.coordinator
    state.joined = choose(where, state.joined.minus(state.joined), state.joined)
    for consumer in group.consumers:
        consumer.claims_of = choose(where, 0, consumer.claims_of)
    state.state = choose(where, PREPARING, state.state)
    state.state = choose(group.has_members, state.state, EMPTY)
    for row in group.partitions:
        row.assigned = choose(state.state == EMPTY, row.assigned.minus(row.assigned), row.assigned)
        row.claimed = choose(
            any_of(where, state.state == EMPTY), row.claimed.minus(row.claimed), row.claimed
        )
    state.partitions = choose(state.state == EMPTY, 0, state.partitions)


@action(
    "{consumer} dies",
    at="the application",
    since="0.9.0.0",
)
def consumer_crash(group: Group, consumer: Consumer) -> None:
    """Its process ends; the coordinator does not know."""
    require(any_of(consumer.is_member, consumer.is_known))
    require(consumer.is_up)

    spend(group, CRASHES)
    blank(group, consumer)
    forget_assignment(group, consumer)
    consumer.phase = DOWN


@action(
    "{consumer} closes and leaves the group",
    at="GroupMetadataManager.classicGroupLeave",
    since="0.9.0.0",
    settings="commit.on.revocation",
)
def consumer_leave(group: Group, consumer: Consumer) -> None:
    """`KafkaConsumer.close`: commit, as it does before a revocation, and LeaveGroup."""
    require(consumer.phase == MEMBER, consumer.is_known, group.is_idle(consumer))
    require(may_change(group))

    spend(group, LEAVES)
    if group.options.commit_on_revocation:
        for row in group.partitions:
            commit(group, row, consumer, row.done[consumer], row.holders.contains(consumer))
    blank(group, consumer)
    forget_assignment(group, consumer)
    consumer.phase = DOWN
    remove(group, consumer)


@action(
    "{consumer} restarts",
    at="the application",
    since="0.9.0.0",
)
def consumer_restart(group: Group, consumer: Consumer) -> None:
    """Another process in its place."""
    require(consumer.phase == DOWN, not_(consumer.is_known))

    consumer.phase = OUTSIDE


@action(
    "the coordinator expires the session of {consumer}, which is dead",
    at="GroupMetadataManager.expireClassicGroupMemberHeartbeat",
    since="0.9.0.0",
)
def coordinator_expire_session(group: Group, consumer: Consumer) -> None:
    """Its session ends, or it does not join in time, and it is removed."""
    require(consumer.phase == DOWN, consumer.is_known, may_change(group))

    remove(group, consumer)


@action(
    "the coordinator expires the session of {consumer}, which is alive",
    at="GroupMetadataManager.expireClassicGroupMemberHeartbeat",
    since="0.9.0.0",
)
def coordinator_expire_live_member(group: Group, consumer: Consumer) -> None:
    """A pause or a partition of the network: the member goes on, a zombie until it hears of it."""
    require(consumer.is_up, consumer.is_known, may_change(group))

    spend(group, SESSION_TIMEOUTS)
    remove(group, consumer)


@action(
    "{consumer} learns that it is fenced",
    at="ConsumerCoordinator.onJoinPrepare",
    since="0.9.0.0",
    about="KIP-429",
)
def consumer_hear_it_is_fenced(group: Group, consumer: Consumer) -> None:
    """UNKNOWN_MEMBER_ID or FENCED_MEMBER_EPOCH: it drops all, and will join as a new member.

    It hears of it when it polls, so it has processed what it had.
    """
    require(consumer.is_member, not_(consumer.is_known), group.is_idle(consumer))

    blank(group, consumer)
    consumer.phase = OUTSIDE


@action(
    "the coordinator dies during a rebalance, and another takes over",
    at="GroupMetadataManager.onLoaded",
    since="0.9.0.0",
    settings="group.protocol",
)
def coordinator_fail_over(group: Group) -> None:
    """A classic group is again what it was at its last assignment, as its log has it.

    Members of then are members, but for those removed since, whom the next coordinator would miss
    as this one did; members that were joining join again, and whose JoinGroup was new begins anew.
    """
    state = group.coordinator
    require(group.is_classic)
    require(any_of(state.state == PREPARING, state.state == COMPLETING))

    spend(group, COORDINATOR_FAILOVERS)
    for consumer in group.consumers:
        waits = all_of(consumer.is_up, consumer.is_member, consumer.phase != MEMBER)
        was = state.stored.contains(consumer)
        consumer.rank = choose(was, consumer.rank, NO_RANK)
        consumer.claims_of = 0
        consumer.wants_rejoin = any_of(consumer.wants_rejoin, all_of(waits, was))
        consumer.generation = choose(
            all_of(consumer.is_up, was), state.stored_generation, consumer.generation
        )
        consumer.phase = choose(all_of(waits, was), MEMBER, consumer.phase)
    for row in group.partitions:
        row.claimed = row.claimed.minus(row.claimed)
    state.joined = state.joined.minus(state.joined)
    state.generation = state.stored_generation
    state.state = STABLE
    rebalance(group, False)
