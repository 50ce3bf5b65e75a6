"""Leaders that append, and followers that fetch, truncate, or build their state from the tier."""

from __future__ import annotations

from model.kafka_tiered.bounds import BUILD_CRASHES, LOG_SIZE, REFUSED_READS
from model.kafka_tiered.leader_epoch_cache import agreed_end, keeps_bare_epoch
from model.kafka_tiered.state import Broker, Segment, Tiered
from model.language import (
    action,
    all_of,
    any_of,
    choose,
    maximum,
    minimum,
    not_,
    require,
    some,
    spend,
)
from model.replicated_log import NO_EPOCH


@action("{leader} appends a record", at="UnifiedLog.appendAsLeader", since="3.6.0")
def leader_append(partition: Tiered, leader: Broker) -> None:
    """The record gets the next offset, and the leader's epoch."""
    require(partition.is_leader(leader), leader.end < partition.bound(LOG_SIZE))

    for place in partition.places:
        here = place.number == leader.end
        leader.lineage[place] = choose(here, partition.epoch, leader.lineage[place])
    leader.end = leader.end + 1


@action("{leader} raises its high watermark", at="Partition.maybeIncrementLeaderHW", since="3.6.0")
def leader_raise_high_watermark(partition: Tiered, leader: Broker) -> None:
    """The next record is committed: every member of the ISR has it, which may be the leader alone.

    A leader knows no epoch of what it has lost the epochs of; that is not committed anew. What an
    unclean election has lost, and another such election brings back, counts as deleted.
    """
    end = partition.high_watermark
    require(partition.is_leader(leader), end < leader.end)
    require(some(all_of(p.number == end, leader.lineage[p] != NO_EPOCH) for p in partition.places))

    is_back = some(
        all_of(place.number == end, leader.lineage[place] < partition.unclean_epoch)
        for place in partition.places
    )
    lost_to = choose(is_back, end + 1, partition.expired_to)
    partition.expired_to = maximum(partition.expired_to, lost_to)
    for place in partition.places:
        here = place.number == end
        place.committed = choose(here, leader.lineage[place], place.committed)


def _require_follower(partition: Tiered, follower: Broker, leader: Broker) -> None:
    require(partition.is_leader(leader), follower != leader, follower.up)


def _diverges(partition: Tiered, follower: Broker, leader: Broker) -> bool:
    """The leader's epochs end before the follower's log does."""
    return agreed_end(partition, follower, leader) < follower.end


def _is_out_of_range(follower: Broker, leader: Broker) -> bool:
    """The leader's log start has passed the follower's end."""
    return follower.end < leader.log_start


def _is_emptied(partition: Tiered, follower: Broker) -> bool:
    """Its log has no record, its cache no leader epoch, and it starts before it ends.

    Whoever has led meanwhile has the epoch in which it led.
    """
    return all_of(
        follower.bare_epoch == NO_EPOCH,
        follower.log_start < follower.end,
        partition.knows_no_epoch(follower),
    )


@action(
    "{follower} follows {leader}, and truncates its log by the leader's epochs",
    at="UnifiedLog.truncateTo",
    since="3.6.0",
    settings="truncation.below.local.keeps.start, tier.build.is.resumed",
)
def follower_truncate(partition: Tiered, follower: Broker, leader: Broker) -> None:
    """Hear of the latest leader, or find that the log diverges; end it where the epochs agree.

    Whatever it was about to build is forgotten: it fetches from where its log ends
    (`ReplicaManager.initialFetchOffset`). If that is below its first local segment, its log starts
    there anew. By one rule it keeps its log start; by another a log that was emptied to be built
    ends at its log start, so that the follower fetches there, and is built.
    """
    _require_follower(partition, follower, leader)
    diverges = _diverges(partition, follower, leader)
    out_of_range = all_of(follower.follows, _is_out_of_range(follower, leader))
    require(any_of(not_(follower.follows), diverges, out_of_range))

    end = choose(out_of_range, leader.log_start, agreed_end(partition, follower, leader))
    if partition.options.build_is_resumed:
        begins = all_of(not_(follower.follows), _is_emptied(partition, follower))
        end = choose(begins, follower.log_start, end)
    keeps = all_of(
        end == follower.end, not_(out_of_range), keeps_bare_epoch(partition, follower, leader)
    )
    follower.kept_epoch = choose(keeps, follower.bare_epoch, NO_EPOCH)
    follower.forget_tasks()
    if partition.options.truncation_keeps_start:
        anew = out_of_range
    else:
        anew = any_of(out_of_range, all_of(diverges, end < follower.local_start))
    for place in partition.places:
        lost = any_of(anew, place.number >= end)
        follower.lineage[place] = choose(lost, NO_EPOCH, follower.lineage[place])
    follower.log_start = choose(anew, end, minimum(end, follower.log_start))
    follower.local_start = choose(anew, end, minimum(end, follower.local_start))
    follower.end = end
    follower.follows = True
    follower.building = False
    follower.ousted = False


@action(
    "{follower} fetches from {leader}",
    at="ReplicaFetcherThread.processPartitionData",
    since="3.6.0",
)
def follower_fetch(partition: Tiered, follower: Broker, leader: Broker) -> None:
    """Append the next record, if there is one, and take the leader's log start."""
    _require_follower(partition, follower, leader)
    more = follower.end < leader.end
    require(follower.follows, not_(follower.building), follower.end >= leader.local_start)
    require(not_(_diverges(partition, follower, leader)))
    require(any_of(more, follower.log_start < leader.log_start))

    for place in partition.places:
        here = all_of(more, place.number == follower.end)
        follower.lineage[place] = choose(here, leader.lineage[place], follower.lineage[place])
    follower.end = choose(more, follower.end + 1, follower.end)
    follower.kept_epoch = choose(more, NO_EPOCH, follower.kept_epoch)
    partition.raise_log_start(follower, leader.log_start)


def _require_moved_to_tier(
    partition: Tiered, follower: Broker, leader: Broker, segment: Segment
) -> None:
    """The follower gets OFFSET_MOVED_TO_TIERED_STORAGE, and finds the segment to go on from."""
    _require_follower(partition, follower, leader)
    require(follower.follows, any_of(follower.building, follower.end < leader.local_start))
    require(not_(_is_out_of_range(follower, leader)), leader.log_start < leader.local_start)
    require(
        some(
            all_of(
                place.number == leader.local_start - 1,
                partition.finds(segment, leader, place),
            )
            for place in partition.places
        )
    )


@action(
    "{follower} builds its state from {segment}",
    at="TierStateMachine.buildRemoteLogAuxState",
    since="3.6.0",
)
def follower_build_from_tier(
    partition: Tiered, follower: Broker, leader: Broker, segment: Segment
) -> None:
    """Start anew after the segment, with the epochs up to its end that are stored with it.

    Below the segment these are the leader's: two lineages that share a record share all before it.
    """
    _require_moved_to_tier(partition, follower, leader, segment)

    partition.truncate_fully(follower, segment.until, leader.log_start)
    for place in partition.places:
        before = all_of(place.number < segment.first, place.number < segment.until)
        known = choose(before, leader.lineage[place], segment.lineage[place])
        follower.lineage[place] = choose(place.number < leader.log_start, NO_EPOCH, known)
    follower.building = False


@action(
    "{follower} truncates its log, and the remote store refuses it the epochs of {segment}",
    at="TierStateMachine.buildRemoteLogAuxState",
    since="3.6.0",
    about="finding 0028",
    settings="tier.indexes.before.truncating",
)
def follower_is_refused(
    partition: Tiered, follower: Broker, leader: Broker, segment: Segment
) -> None:
    """It backs off, to build later. With the fix a refusal leaves the log as it was."""
    require(not partition.options.indexes_before_truncating)
    _require_moved_to_tier(partition, follower, leader, segment)
    require(not_(follower.building))

    spend(partition, REFUSED_READS)
    partition.truncate_fully(follower, segment.until, leader.log_start)
    follower.building = True


@action(
    "{follower} truncates its log, and dies before it has written the epochs of {segment}",
    at="TierStateMachine.buildRemoteLogAuxState",
    since="3.6.0",
    about="finding 0028",
    settings="restart.keeps.last.epoch",
)
def follower_dies_building(
    partition: Tiered, follower: Broker, leader: Broker, segment: Segment
) -> None:
    """No order of reads helps here: the log is truncated, and its epochs are cleared, in steps."""
    _require_moved_to_tier(partition, follower, leader, segment)

    spend(partition, BUILD_CRASHES)
    partition.truncate_fully(follower, segment.until, leader.log_start)
    follower.building = True
    partition.stop(follower)
