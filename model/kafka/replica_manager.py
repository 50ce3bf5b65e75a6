"""A leader's handling of a fetch whose thread stalls (`ReplicaManager.readFromLog`, `Partition`).

A thread checks and reads under the partition's lock and lets go of it. It notes the offset in the
`Replica` object that it has found, and then asks for the follower to join the ISR, by what that
object holds. In `partition.py` and `alter_partition.py` that is one step. Here metadata may be read
between the parts. One thread stalls at a time, at one place; its answer is lost.
"""

from __future__ import annotations

from model.kafka.alter_partition import can_change_isr, propose_isr, starts_late_enough
from model.kafka.bounds import STALLED_FETCHES
from model.kafka.leader_epoch_cache import epoch_start
from model.kafka.partition import (
    advance_high_watermark,
    can_fetch,
    fetch_diverges,
    is_believed,
    is_noted,
    is_remembered,
    would_advance,
)
from model.kafka.state import Broker, TopicPartition
from model.language import action, all_of, any_of, choose, is_none, not_, require, spend


def _require_fetch(partition: TopicPartition, leader: Broker, follower: Broker) -> None:
    """A fetch that the leader takes for the follower's position, and a thread to handle it."""
    diverging = fetch_diverges(partition, follower, leader)
    require(is_none(partition.stalled.leader))
    require(can_fetch(partition, follower, leader))
    require(is_believed(partition, follower, leader, diverging))


def _stall(partition: TopicPartition, leader: Broker, follower: Broker) -> None:
    spend(partition, STALLED_FETCHES)
    partition.stalled.leader = leader
    partition.stalled.follower = follower
    partition.stalled.offset = follower.log.end


@action(
    "{leader} reads for a fetch from {follower}; the thread stalls before it records it",
    at="Partition.fetchRecords",
    since="0.8.0",
    about="finding 0008",
)
def leader_stall_before_noting(partition: TopicPartition, leader: Broker, follower: Broker) -> None:
    """Check a fetch in its leader epoch, and hold it (`fetchRecords`)."""
    _require_fetch(partition, leader, follower)

    _stall(partition, leader, follower)


@action(
    "{leader} records a fetch from {follower}; the thread stalls before it checks the ISR",
    at="Partition.updateFollowerFetchState",
    since="0.8.0",
    about="finding 0008",
)
def leader_stall_after_noting(partition: TopicPartition, leader: Broker, follower: Broker) -> None:
    """Note a fetch (`updateFollowerFetchState`), and hold the `Replica` that it is noted in.

    The high watermark comes after the ISR: this thread does not move it yet.
    """
    diverging = fetch_diverges(partition, follower, leader)
    noted = is_noted(partition, follower, leader, diverging)
    known = leader.follower_leo[follower]
    _require_fetch(partition, leader, follower)

    _stall(partition, leader, follower)
    partition.stalled.noted = True
    leader.follower_leo[follower] = choose(noted, follower.log.end, known)


@action(
    "the thread of {leader} that stalled on a fetch from {follower} resumes",
    at="Partition.updateFollowerFetchState",
    since="0.8.0",
    about="finding 0008",
)
def leader_finish_stalled_fetch(
    partition: TopicPartition, leader: Broker, follower: Broker
) -> None:
    """Note where the follower was (`updateFollowerFetchState`), and move the HW.

    No epoch is checked again. Nobody sees what is noted in an orphan.
    """
    stalled, known = partition.stalled, leader.follower_leo[follower]
    late = all_of(not_(stalled.noted), is_remembered(partition, follower, leader))
    news = any_of(stalled.noted, known != stalled.offset)
    require(stalled.leader == leader, stalled.follower == follower)
    require(leader.leads, not_(stalled.orphaned))
    require(any_of(not_(stalled.noted), would_advance(partition, leader)))

    leader.follower_leo[follower] = choose(late, stalled.offset, known)
    stalled.reset()
    advance_high_watermark(partition, leader, where=news)


@action(
    "the stalled thread of {leader} resumes and sends AlterPartition to add {follower}",
    at="Partition.maybeExpandIsr",
    since="0.8.0",
    about="finding 0008",
    settings="isr.join.checks.replica",
)
def leader_expand_by_stalled_fetch(
    partition: TopicPartition, leader: Broker, follower: Broker
) -> None:
    """Let the follower join by the offset in the object that the thread holds (`maybeExpandIsr`).

    Where that is an orphan, the follower has fetched since the leader leads again: the broker epoch
    comes from the object that the leader has now, so nothing fails (finding 0008).
    """
    stalled, orphaned = partition.stalled, partition.stalled.orphaned
    diverging = fetch_diverges(partition, follower, leader)
    has_fetched = all_of(
        can_fetch(partition, follower, leader),
        is_believed(partition, follower, leader, diverging),
    )
    known = leader.follower_leo[follower]
    seen = all_of(stalled.noted, is_remembered(partition, follower, leader))
    news = all_of(not_(orphaned), any_of(stalled.noted, known != stalled.offset))
    require(stalled.leader == leader, stalled.follower == follower)
    require(can_change_isr(partition, leader))
    require(not_(leader.isr.contains(follower)))
    require(partition.has_replica(follower))
    require(any_of(not_(orphaned), has_fetched))
    require(stalled.offset >= leader.high_watermark)
    require(stalled.offset >= epoch_start(leader))
    require(starts_late_enough(partition, leader, follower))
    if partition.options.isr_join_checks_replica:
        require(not_(orphaned))

    leader.follower_leo[follower] = choose(
        orphaned, follower.log.end, choose(seen, known, stalled.offset)
    )
    stalled.reset()
    propose_isr(partition, leader, leader.isr.with_member(follower))
    advance_high_watermark(partition, leader, where=news)


def forget_stalled_fetch(partition: TopicPartition, broker: Broker) -> None:
    """The broker's process is gone: its threads, and what others would note of it.

    A late note of what a former incarnation asked for is refused since 3.7.0 (KAFKA-15221); until
    the follower is back, it says no more than one that was noted in time.
    """
    partition.stalled.reset(where=is_in_stalled_fetch(partition, broker))


def is_in_stalled_fetch(partition: TopicPartition, broker: Broker) -> bool:
    """A thread that stalls is the broker's, or handles its fetch."""
    stalled = partition.stalled
    return any_of(stalled.leader == broker, stalled.follower == broker)
