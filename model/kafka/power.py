"""Power that several machines lose at once, or one whose broker has crashed before.

What is lost is what no disk has: the end of a log in the page cache of a machine (`LogSegment`
leaves flushing to the operating system). That is so of brokers that run and of those that have
crashed and not started again; one that has stopped cleanly has flushed its log
(`LogManager.shutdown`). Which brokers share a rack is a setting, `broker.rack`.
"""

from __future__ import annotations

from collections.abc import Callable

from model.kafka import fetch_session, log_segment, unified_log
from model.kafka import leader_epoch_file_cache as file_cache
from model.kafka.bounds import CACHE_LOSSES, RACK_FAILURES
from model.kafka.faults import forget_memory, is_left_by_power_loss
from model.kafka.partition_change import outdate_leader
from model.kafka.racks import Racks
from model.kafka.replica_manager import is_in_stalled_fetch
from model.kafka.stalled_threads import is_in_stalled_read
from model.kafka.state import Broker, TopicPartition
from model.language import (
    SetOf,
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
from model.replicated_log import Offset


def in_the_rack_of(partition: TopicPartition, broker: Broker) -> SetOf[Broker]:
    """Who stands in one rack with the broker, itself among them."""
    racks, brokers = partition.options.broker_rack, partition.brokers
    if racks == Racks.TOGETHER:
        return brokers.all()
    found = brokers.only(broker)
    for number, letter in enumerate(racks.letters):
        mates = brokers.none()
        for other, its_letter in enumerate(racks.letters):
            if its_letter == letter:
                mates = mates.with_member(brokers[other])
        found = choose(broker == brokers[number], mates, found)
    return found


def _is_in_page_cache(broker: Broker) -> bool:
    """Of a log that no disk may have: the broker runs, or has crashed."""
    return not_(broker.stopped_cleanly)


def _left(partition: TopicPartition, broker: Broker, kept: int) -> int:
    """Where the log ends once no more than `kept` entries are left, unless each was flushed."""
    if partition.options.log_flush_interval_messages == 1:
        return broker.log.end
    start = unified_log.start_on_disk(partition, broker)
    return maximum(start, minimum(kept, broker.log.end))


def _rack_loses_power(
    partition: TopicPartition, rack: SetOf[Broker], kept: Callable[[Broker], int]
) -> None:
    """Take the power of a rack, in which of each log `kept` entries are left; it must matter."""
    lost = partition.brokers.where(lambda m: all_of(rack.contains(m), _is_in_page_cache(m)))
    require(
        some(
            all_of(lost.contains(m), any_of(m.up, _left(partition, m, kept(m)) < m.log.end))
            for m in partition.brokers
        )
    )

    spend(partition, RACK_FAILURES)
    leads = some(all_of(lost.contains(m), partition.is_in_office(m)) for m in partition.brokers)
    partition.stalled.reset(
        where=some(
            all_of(lost.contains(m), is_in_stalled_fetch(partition, m)) for m in partition.brokers
        )
    )
    truncation, produce = partition.stalled_truncation, partition.stalled_produce
    truncation.reset(
        where=some(all_of(lost.contains(m), truncation.follower == m) for m in partition.brokers)
    )
    produce.reset(
        where=some(all_of(lost.contains(m), produce.leader == m) for m in partition.brokers)
    )
    partition.stalled_read.reset(
        where=some(
            all_of(lost.contains(m), is_in_stalled_read(partition, m)) for m in partition.brokers
        )
    )
    outdate_leader(partition, where=leads)
    fetch_session.end_all(partition, lost)
    for member in partition.brokers:
        where = lost.contains(member)
        left = _left(partition, member, kept(member))
        member.truncate_to(choose(where, left, member.log.end))
        forget_memory(partition, member, power_lost=True, where=where)
        log_segment.forget(partition, member, where)


@action(
    "the rack of {broker} loses power; {kept} records of each log are left",
    at="UnifiedLog.append",
    since="0.8.0",
    settings="broker.rack, log.flush.interval.messages",
)
def rack_lose_power(partition: TopicPartition, broker: Broker, kept: Offset) -> None:
    """Every machine in one rack loses power at once, and each log what is beyond one offset."""
    require(_is_in_page_cache(broker), is_left_by_power_loss(partition, broker, kept))

    _rack_loses_power(partition, in_the_rack_of(partition, broker), lambda _: kept)


@action(
    "the rack of {broker} loses power; {kept} records of its log are left, {kept_by_other} of that "
    "of {other}, and {kept_by_rest} of each other one",
    at="UnifiedLog.append",
    since="0.8.0",
    about="KAFKA-3919",
    settings="broker.rack, log.flush.interval.messages",
)
def rack_lose_uneven_ends(
    partition: TopicPartition,
    broker: Broker,
    kept: Offset,
    other: Broker,
    kept_by_other: Offset,
    kept_by_rest: Offset,
) -> None:
    """The same where each log loses an end of its own: what a disk had happened to write.

    Two that may differ from the rest are all that three machines need; of four or more whose logs
    hold three entries or more, some are left as long as one another. Where only one differs, the
    other is like the rest.
    """
    rack = in_the_rack_of(partition, broker)
    require(partition.options.broker_rack != Racks.SPREAD)
    require(partition.options.log_flush_interval_messages != 1)
    require(other != broker, rack.contains(other))
    require(_is_in_page_cache(broker), is_left_by_power_loss(partition, broker, kept))
    require(_is_in_page_cache(other), is_left_by_power_loss(partition, other, kept_by_other))
    require(kept != kept_by_rest)
    require(any_of(kept_by_other == kept_by_rest, all_of(rack.size > 2, kept <= kept_by_other)))

    _rack_loses_power(
        partition,
        rack,
        lambda m: choose(m == broker, kept, choose(m == other, kept_by_other, kept_by_rest)),
    )


@action(
    "the machine of {broker}, which has crashed, loses power; {kept} records are left",
    at="LogManager.shutdown",
    since="0.8.0",
    settings="log.flush.interval.messages",
)
def broker_lose_page_cache(partition: TopicPartition, broker: Broker, kept: Offset) -> None:
    """A process dies and then its machine, before it starts again: the log's unflushed end is gone.

    Files of checkpoints are synced as they are written; the HW is limited to the log's end when it
    is loaded.
    """
    require(partition.options.log_flush_interval_messages != 1)
    require(not_(broker.up), _is_in_page_cache(broker), kept < broker.log.end)
    require(broker.log_start <= kept)

    spend(partition, CACHE_LOSSES)
    broker.truncate_to(kept)
    log_segment.forget(partition, broker)
    if file_cache.is_kept(partition):
        file_cache.reload(partition, broker, power_lost=True)
