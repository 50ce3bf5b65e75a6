"""What threads that stall hold, once their broker's epoch is another or its `Replica` objects are.

What they do is in `replica_manager.py`, `abstract_fetcher_thread.py`, `delayed_produce.py` and
`log_read_info.py`.
"""

from __future__ import annotations

from model.kafka.state import Broker, TopicPartition
from model.language import SetOf, all_of, any_of, not_, some


def orphan_stalled_fetch(
    partition: TopicPartition, broker: Broker, followers: SetOf[Broker]
) -> None:
    """The broker throws its `Replica` objects of those away; a thread may hold one still."""
    stalled = partition.stalled
    held = some(all_of(followers.contains(m), stalled.follower == m) for m in partition.brokers)
    stalled.orphaned = any_of(all_of(held, stalled.leader == broker), stalled.orphaned)


def void_stalled_fetch(
    partition: TopicPartition, leader: Broker, where: bool = True, forgets: bool = True
) -> None:
    """The leader's epoch is another now: with fixes, a fetch of before does not count.

    One that was not noted is refused then; one that was noted is forgotten with the LEOs.
    """
    options, stalled = partition.options, partition.stalled
    resets = options.reset_leo_every_epoch or options.reset_leo_after_skip
    void = any_of(
        all_of(options.fetch_noted_in_its_epoch, not_(stalled.noted)),
        all_of(resets, forgets, stalled.noted, not_(stalled.orphaned)),
    )
    stalled.reset(where=all_of(where, void, stalled.leader == leader))


def void_stalled_truncation(partition: TopicPartition, follower: Broker) -> None:
    """The follower's epoch is another now: with the fix, an answer of before truncates nothing."""
    stalled = partition.stalled_truncation
    if partition.options.truncation_matches_request_epoch:
        stalled.reset(where=stalled.follower == follower)


def void_stalled_produce(partition: TopicPartition, leader: Broker, where: bool = True) -> None:
    """The leader's epoch is another now: with the fix, a record of before is not waited for."""
    stalled = partition.stalled_produce
    if partition.options.produce_matches_leader_epoch:
        stalled.reset(where=all_of(where, stalled.leader == leader))


def is_in_stalled_read(partition: TopicPartition, broker: Broker) -> bool:
    """A thread that stalls reads as the broker, or for its fetch."""
    stalled = partition.stalled_read
    return any_of(stalled.leader == broker, stalled.follower == broker)


def void_stalled_read(partition: TopicPartition, broker: Broker) -> None:
    """The broker waits for no such thread, as it would: the stall is taken back instead."""
    partition.stalled_read.reset(where=is_in_stalled_read(partition, broker))
