"""The epoch that a follower fetched last, which its next fetch names (`lastFetchedEpoch`).

A fetcher reads it off the leader-epoch cache as it begins to fetch and after it truncates; then it
is that of the last record. So it is what the cache has last, but in two cases: an empty answer has
cleared it (KAFKA-15510), or a copy in another directory has replaced the log, and lacks that epoch
(KAFKA-20961). The fetcher is not told of that.
"""

from __future__ import annotations

from model.kafka.choices import Truncation
from model.kafka.state import Broker, TopicPartition
from model.language import all_of, choose, is_none, not_
from model.replicated_log import NO_EPOCH


def named(follower: Broker, latest: int) -> int:
    """What a fetch names; `latest` is what the cache has last. `NO_EPOCH` if it names none."""
    held = choose(follower.fetched_epoch == NO_EPOCH, latest, follower.fetched_epoch)
    return choose(follower.fetched_epoch_forgotten, NO_EPOCH, held)


def is_not_in_cache(follower: Broker) -> bool:
    """It was kept as the log was replaced; to truncate makes the follower name another."""
    return follower.fetched_epoch != NO_EPOCH


def take_from_cache(follower: Broker, where: bool = True) -> None:
    """Where the condition holds, the fetcher reads it off the cache (`latestEpoch`)."""
    forgotten = follower.fetched_epoch_forgotten
    follower.fetched_epoch_forgotten = choose(where, False, forgotten)
    follower.fetched_epoch = choose(where, NO_EPOCH, follower.fetched_epoch)


def note_record(follower: Broker, where: bool = True) -> None:
    """Where the condition holds, it is the epoch of a record, and the cache has that."""
    follower.fetched_epoch = choose(where, NO_EPOCH, follower.fetched_epoch)


def keep(partition: TopicPartition, broker: Broker, before: int, latest: int) -> None:
    """The log was replaced: the fetcher still names what it named `before`.

    `latest` is what the cache has last now. A fetch names an epoch since KIP-595, and only a
    follower's.
    """
    if partition.options.truncation != Truncation.DIVERGING_FETCH:
        return
    fetches = all_of(not_(is_none(broker.leader)), not_(broker.leads), not_(broker.gave_up))
    kept = all_of(fetches, not_(broker.fetched_epoch_forgotten), before != latest)
    broker.fetched_epoch = choose(kept, before, NO_EPOCH)
