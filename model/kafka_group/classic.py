"""The classic group protocol: JoinGroup, SyncGroup, and what members give up in between.

`GroupCoordinator`, since 4.0 `GroupMetadataManager`, and `ConsumerCoordinator`. The coordinator
answers all JoinGroups in one step, and the member with the least member id leads.
"""

from __future__ import annotations

from model.kafka_group.assignors import assign_classic
from model.kafka_group.bounds import COORDINATOR_FAILOVERS, GENERATIONS, LOST_COMMITS
from model.kafka_group.membership import is_free_rank, rebalance
from model.kafka_group.offsets import commit_before, give_up, give_up_all, take
from model.kafka_group.settings import Assignor
from model.kafka_group.state import (
    COMPLETING,
    JOINING,
    MEMBER,
    OUTSIDE,
    PREPARING,
    STABLE,
    SYNCING,
    Consumer,
    Group,
    Rank,
)
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


def _is_sticky(group: Group) -> bool:
    return group.options.assignor in (Assignor.STICKY, Assignor.COOPERATIVE_STICKY)


def _join(group: Group, consumer: Consumer) -> None:
    """The coordinator has JoinGroup of a member: the group prepares a rebalance if it does not."""
    state = group.coordinator
    rebalance(group, state.state != PREPARING)
    state.joined = state.joined.with_member(consumer)
    consumer.phase = JOINING
    consumer.wants_rejoin = False
    if _is_sticky(group):
        consumer.claims_of = consumer.assigned_in
        for row in group.partitions:
            owns = (row.holders if group.is_cooperative else row.remembered).contains(consumer)
            row.claimed = choose(owns, row.claimed.with_member(consumer), row.claimed)


@action(
    "{consumer} joins the group; its member id sorts at {rank}",
    at="GroupMetadataManager.classicGroupJoin",
    since="0.9.0.0",
    settings="group.protocol",
)
def consumer_join(group: Group, consumer: Consumer, rank: Rank) -> None:
    """JoinGroup of a new member."""
    require(group.is_classic)
    require(consumer.phase == OUTSIDE, not_(consumer.is_known))
    require(is_free_rank(group, rank))

    consumer.rank = rank
    _join(group, consumer)


def has_to_rejoin(group: Group, consumer: Consumer) -> bool:
    """A member hears of a rebalance, by its heartbeat or an answer, or wants one."""
    state = group.coordinator
    return all_of(
        consumer.is_known,
        any_of(consumer.phase == MEMBER, consumer.phase == SYNCING),
        any_of(consumer.wants_rejoin, state.state == PREPARING),
    )


@action(
    "{consumer} commits before it revokes its partitions",
    at="ConsumerCoordinator.onJoinPrepare",
    since="3.2.0",
    about="KAFKA-13310, KAFKA-14196",
    settings="revocation.stops.fetching",
)
def consumer_commit_before_rejoin(group: Group, consumer: Consumer) -> None:
    """`ConsumerCoordinator.onJoinPrepare` from 3.2.0 on: the commit is sent, and polls go on.

    Since 3.2.3 polls return nothing then, so that this and giving up are one step:
    `consumer_rejoin`.
    """
    require(group.is_classic)
    require(group.options.commit_on_revocation, not group.options.revocation_stops_fetching)
    require(not group.is_cooperative)
    require(has_to_rejoin(group, consumer), group.is_idle(consumer))
    require(not_(consumer.committed_to_rejoin), not_(group.holds_nothing(consumer)))

    _commit_all(group, consumer)
    consumer.committed_to_rejoin = True


def _commit_all(group: Group, consumer: Consumer) -> None:
    for row in group.partitions:
        commit_before(group, row, consumer, row.holders.contains(consumer))


def _give_up_to_rejoin(group: Group, consumer: Consumer) -> None:
    """An eager member gives up all before it joins; a cooperative one keeps it."""
    if not group.is_cooperative:
        give_up_all(group, consumer)
    consumer.committed_to_rejoin = False
    _join(group, consumer)


@action(
    "{consumer} rejoins",
    at="ConsumerCoordinator.onJoinPrepare",
    since="0.9.0.0",
    settings="commit.on.revocation, partition.assignment.strategy",
)
def consumer_rejoin(group: Group, consumer: Consumer) -> None:
    """Commit, give up what has to be given up, JoinGroup: all in one call of poll."""
    require(group.is_classic)
    require(has_to_rejoin(group, consumer), group.is_idle(consumer))

    if group.options.commit_on_revocation and not group.is_cooperative:
        if group.options.revocation_stops_fetching:
            _commit_all(group, consumer)
        else:
            require(any_of(consumer.committed_to_rejoin, group.holds_nothing(consumer)))
    _give_up_to_rejoin(group, consumer)


@action(
    "{consumer} rejoins; its commit is lost",
    at="ConsumerCoordinator.onJoinPrepare",
    since="0.9.0.0",
    settings="commit.on.revocation",
)
def consumer_rejoin_uncommitted(group: Group, consumer: Consumer) -> None:
    """The commit before the revocation fails, or times out."""
    require(group.is_classic)
    require(not group.is_cooperative, group.options.commit_on_revocation)
    require(has_to_rejoin(group, consumer), group.is_idle(consumer))
    require(not_(consumer.committed_to_rejoin), not_(group.holds_nothing(consumer)))

    spend(group, LOST_COMMITS)
    _give_up_to_rejoin(group, consumer)


@action(
    "the coordinator completes the join and starts the next generation",
    at="GroupMetadataManager.completeClassicGroupJoin",
    since="0.9.0.0",
    settings="group.protocol",
)
def coordinator_complete_join(group: Group) -> None:
    """Every member has joined; each is told the generation, and the first of them who is in it."""
    state = group.coordinator
    require(group.is_classic)
    require(state.state == PREPARING, group.has_members)
    require(every(implies(c.is_known, state.joined.contains(c)) for c in group.consumers))
    require(state.generation < group.bound(GENERATIONS))

    state.generation = state.generation + 1
    state.state = COMPLETING
    for consumer in group.consumers:
        hears = all_of(state.joined.contains(consumer), consumer.phase == JOINING)
        consumer.generation = choose(hears, state.generation, consumer.generation)
        consumer.phase = choose(hears, SYNCING, consumer.phase)


@action(
    "{consumer} computes the assignment and sends SyncGroup",
    at="ConsumerCoordinator.onLeaderElected",
    since="0.9.0.0",
    about="KAFKA-7026, KAFKA-14639",
    settings="partition.assignment.strategy",
)
def leader_sync(group: Group, consumer: Consumer) -> None:
    """SyncGroup of the member that leads. The coordinator writes down group and assignment."""
    state = group.coordinator
    require(group.is_classic)
    require(state.state == COMPLETING, group.leads(consumer), consumer.phase == SYNCING)

    assign_classic(group)
    for row in group.partitions:
        row.claimed = row.claimed.minus(row.claimed)
    for member in group.consumers:
        member.claims_of = 0
    keeps = group.bound(COORDINATOR_FAILOVERS) > 0
    state.stored = choose(keeps, state.joined, state.stored)
    state.stored_generation = choose(keeps, state.generation, state.stored_generation)
    state.joined = state.joined.minus(state.joined)
    state.state = STABLE
    state.partitions = group.partition_count


@action(
    "{consumer} receives its assignment by SyncGroup",
    at="ConsumerCoordinator.onJoinComplete",
    since="0.9.0.0",
    about="KIP-429",
    settings="partition.assignment.strategy, auto.offset.reset",
)
def consumer_sync(group: Group, consumer: Consumer) -> None:
    """The answer to SyncGroup: begin with what is new; what is not there any more is given up.

    A cooperative member that gives up something commits it, and joins again (KIP-429).
    """
    state = group.coordinator
    require(group.is_classic)
    require(state.state == STABLE, consumer.is_known, consumer.phase == SYNCING)
    require(consumer.generation == state.generation, group.is_idle(consumer))

    if group.is_cooperative:
        consumer.wants_rejoin = some(
            all_of(row.holders.contains(consumer), not_(row.assigned.contains(consumer)))
            for row in group.partitions
        )
    for row in group.partitions:
        given_up = all_of(row.holders.contains(consumer), not_(row.assigned.contains(consumer)))
        new = all_of(row.assigned.contains(consumer), not_(row.holders.contains(consumer)))
        if group.is_cooperative:
            commit_before(group, row, consumer, given_up)
            give_up(row, consumer, given_up)
        take(group, row, consumer, new)
        if group.options.assignor == Assignor.STICKY:
            row.remembered = choose(
                row.assigned.contains(consumer),
                row.remembered.with_member(consumer),
                row.remembered.without_member(consumer),
            )
    if _is_sticky(group):
        consumer.assigned_in = consumer.generation
    consumer.phase = MEMBER


@action(
    "{consumer}, the group leader, sees new partitions",
    at="ConsumerCoordinator.rejoinNeededOrPending",
    since="0.9.0.0",
    settings="group.protocol",
)
def leader_see_new_partitions(group: Group, consumer: Consumer) -> None:
    """Its metadata are newer than those of the last assignment: it asks for a rebalance."""
    state = group.coordinator
    require(group.is_classic)
    require(state.state == STABLE, group.leads(consumer), consumer.phase == MEMBER)
    require(not_(consumer.wants_rejoin), state.partitions < group.partition_count)

    consumer.wants_rejoin = True
