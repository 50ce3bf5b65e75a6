"""`LeaderEpochFileCache`: where the epochs of a follower and of its leader agree."""

from __future__ import annotations

from model.kafka_tiered.state import Broker, Tiered
from model.language import all_of, any_of, choose, largest, minimum, not_, smallest, some
from model.replicated_log import NO_EPOCH


def agreed_end(partition: Tiered, follower: Broker, leader: Broker) -> int:
    """Where the follower's log ends if the leader's epochs end it.

    It asks by its latest epoch, and is told the leader's latest up to that one, and its end. It
    ends its own log there, or where its latest up to that one ends, and asks again
    (`AbstractFetcherThread.getOffsetTruncationState`). Of an epoch below all of a cache it is
    said that it ends where the cache begins. A follower whose log is empty asks by the epoch
    that its cache has without a record.
    """
    last = largest(
        choose(
            _is_last_word(partition, leader, follower.lineage[place]),
            follower.lineage[place],
            NO_EPOCH,
        )
        for place in partition.places
    )
    shared = some(leader.lineage[place] == last for place in partition.places)
    first = smallest(
        choose(follower.lineage[place] == NO_EPOCH, partition.epoch, follower.lineage[place])
        for place in partition.places
    )
    told = choose(shared, _epoch_end(partition, leader, last), partition.cache_start(leader))
    below = minimum(partition.cache_start(follower), _epoch_end(partition, leader, first - 1))
    known = choose(last == NO_EPOCH, below, minimum(_epoch_end(partition, follower, last), told))
    bare = follower.bare_epoch
    of_bare = choose(
        _has_epoch_up_to(partition, leader, bare),
        _epoch_end(partition, leader, bare),
        partition.cache_start(leader),
    )
    without = choose(bare == NO_EPOCH, leader.end, of_bare)
    return choose(partition.knows_no_epoch(follower), minimum(follower.end, without), known)


def keeps_bare_epoch(partition: Tiered, follower: Broker, leader: Broker) -> bool:
    """What the leader says of the follower's bare epoch lets the entry stay in its cache."""
    bare = follower.bare_epoch
    begins_later = all_of(
        not_(_has_epoch_up_to(partition, leader, bare)),
        partition.cache_start(leader) >= follower.end,
    )
    has = some(leader.lineage[place] == bare for place in partition.places)
    return all_of(partition.has_bare_cache(follower), bare != NO_EPOCH, any_of(has, begins_later))


def _is_last_word(partition: Tiered, leader: Broker, epoch: int) -> bool:
    """A follower that asks by this epoch asks no more: the leader has it, or none up to it."""
    has = some(leader.lineage[place] == epoch for place in partition.places)
    return all_of(epoch != NO_EPOCH, any_of(has, not_(_has_epoch_up_to(partition, leader, epoch))))


def _has_epoch_up_to(partition: Tiered, broker: Broker, epoch: int) -> bool:
    return some(
        all_of(broker.lineage[place] != NO_EPOCH, broker.lineage[place] <= epoch)
        for place in partition.places
    )


def _epoch_end(partition: Tiered, broker: Broker, epoch: int) -> int:
    """The offset after the last of an epoch up to this one; 0 if there is none."""
    return largest(
        choose(
            all_of(broker.lineage[place] != NO_EPOCH, broker.lineage[place] <= epoch),
            place.number + 1,
            0,
        )
        for place in partition.places
    )
