"""The tiered model's properties, in order, and its witnesses: what it must be able to do.

Records that retention has deleted, or an unclean election, are promised to nobody.
"""

from __future__ import annotations

from model.kafka_tiered.state import UNKNOWN, Broker, Copy, Place, Tiered
from model.language import all_of, any_of, every, implies, not_, some
from model.replicated_log import NO_EPOCH
from properties.claims import Property, always, sometimes


def _is_owed(partition: Tiered, place: Place) -> bool:
    """A record is committed there, and retention has not deleted it."""
    return all_of(place.committed != NO_EPOCH, place.number >= partition.expired_to)


def _serves(partition: Tiered, broker: Broker, place: Place) -> bool:
    """A consumer that fetches there gets the committed record."""
    remote = some(
        all_of(partition.finds(segment, broker, place), segment.lineage[place] == place.committed)
        for segment in partition.segments
    )
    local = all_of(partition.is_local(broker, place), broker.lineage[place] == place.committed)
    return all_of(
        broker.log_start <= place.number,
        any_of(local, all_of(place.number < partition.noted_start(broker), remote)),
    )


def _is_remote_alone(partition: Tiered, broker: Broker, place: Place) -> bool:
    return all_of(
        partition.is_leader(broker), _is_owed(partition, place), place.number < broker.local_start
    )


@always(
    "committed_is_readable",
    "the leader serves every committed record that retention has not deleted",
    premise=lambda partition: some(
        _is_remote_alone(partition, broker, place)
        for broker in partition.brokers
        for place in partition.places
    ),
    failure="{broker} leads, and does not serve the committed record of {place}",
    breach="does not serve a committed record",
    broken_by="kafka_tiered remote.map.keeps.longer=false",
)
def committed_is_readable(partition: Tiered) -> bool:
    """Local, or found in the remote store by the leader's epochs."""
    return every(
        implies(
            all_of(partition.is_leader(broker), _is_owed(partition, place)),
            _serves(partition, broker, place),
        )
        for broker in partition.brokers
        for place in partition.places
    )


@always(
    "committed_is_kept",
    "a committed record that retention has not deleted is in a local log or in the remote store",
    premise=lambda partition: some(
        all_of(
            _is_owed(partition, place),
            every(not_(partition.is_local(broker, place)) for broker in partition.brokers),
        )
        for place in partition.places
    ),
    failure="the committed record of {place} is nowhere any more",
    breach="deletes a committed record",
    broken_by="kafka_tiered tier.indexes.before.truncating=false tier.build.is.resumed=false",
)
def committed_is_kept(partition: Tiered) -> bool:
    """Found or not, on a broker that is up or not: else it is gone for good."""
    return every(
        implies(
            _is_owed(partition, place),
            any_of(
                some(
                    all_of(
                        partition.is_local(broker, place),
                        broker.lineage[place] == place.committed,
                    )
                    for broker in partition.brokers
                ),
                some(
                    all_of(segment.copy == Copy.FINISHED, segment.lineage[place] == place.committed)
                    for segment in partition.segments
                ),
            ),
        )
        for place in partition.places
    )


@always(
    "log_start_moves_by_retention",
    "no log of the leader or a follower starts above what retention has deleted",
    premise=lambda partition: some(broker.log_start > 0 for broker in partition.brokers),
    failure="the log of {broker} starts at {broker.log_start}, and retention has deleted less",
    breach="raises a log start that retention has not",
    broken_by="kafka_tiered truncation.below.local.keeps.start=false",
)
def log_start_moves_by_retention(partition: Tiered) -> bool:
    """A log start is what consumers go by, and the expiration task of whoever leads next.

    Of a broker that has not heard of the latest leader it says nothing yet.
    """
    return every(
        implies(broker.follows, broker.log_start <= partition.expired_to)
        for broker in partition.brokers
    )


@always(
    "reads_are_of_the_leaders_log",
    "what a consumer reads from the remote store is what the leader's log has at these offsets",
    premise=lambda partition: some(
        all_of(partition.is_leader(broker), broker.log_start < broker.local_start)
        for broker in partition.brokers
    ),
    failure="{broker} leads, and a read at {place} returns another record for {later}",
    breach="returns records that are lost, and hides those that took their place",
    broken_by="kafka_tiered remote.read.ends=with_segment",
)
def reads_are_of_the_leaders_log(partition: Tiered) -> bool:
    """A consumer goes on after what it was given, and so misses what the log has there."""
    return every(
        implies(
            all_of(
                partition.is_leader(broker),
                broker.log_start <= place.number,
                place.number < partition.noted_start(broker),
                partition.finds(segment, broker, place),
                partition.reads(segment, broker, place, later),
            ),
            segment.lineage[later] == broker.lineage[later],
        )
        for broker in partition.brokers
        for segment in partition.segments
        for place in partition.places
        for later in partition.places
    )


def _moves_log_start(before: Broker, after: Broker) -> bool:
    """Its task finds the log start as it becomes leader, or retention raises it."""
    found = all_of(before.next_base == UNKNOWN, after.next_base != UNKNOWN)
    return any_of(found, all_of(after.leads, before.log_start < after.log_start))


@always(
    "log_start_is_served",
    "a leader that has found its log start, or raised it, serves what is committed from there on",
    premise=lambda partition: some(
        all_of(partition.is_leader(broker), broker.log_start > 0) for broker in partition.brokers
    ),
    failure="the log of a leader starts where nothing is any more",
    breach="moves a log start to where nothing is",
    broken_by="kafka_tiered remote.start.is.looked.up=false",
    promised=lambda _: False,
    of_steps=True,
)
def log_start_is_served(before: Tiered, after: Tiered) -> bool:
    """Else consumers that begin at the earliest offset are refused it, and told it again."""
    return every(
        implies(
            all_of(
                after.is_leader(after.brokers[each]),
                _moves_log_start(each, after.brokers[each]),
                after.places[place].committed != NO_EPOCH,
                place.number >= after.brokers[each].log_start,
            ),
            _serves(after, after.brokers[each], after.places[place]),
        )
        for each in before.brokers
        for place in before.places
    )


@always(
    "untiered_log_is_local",
    "while tiering is off, the leader's log starts at its first local record",
    premise=lambda partition: some(
        all_of(not_(partition.tiered), partition.is_leader(broker), broker.log_start > 0)
        for broker in partition.brokers
    ),
    failure="{broker} leads an untiered log that starts at {broker.log_start}, "
    "and its first local record is at {broker.local_start}",
    breach="leads a log that starts where nothing is",
    broken_by="kafka_tiered untiered.log.is.local=false",
    promised=lambda model: model.bounds["tiering_disablings"] > 0,
)
def untiered_log_is_local(partition: Tiered) -> bool:
    """Else consumers that begin at the earliest offset are refused it, and told it again."""
    return every(
        implies(
            all_of(not_(partition.tiered), partition.is_leader(broker)),
            broker.log_start == broker.local_start,
        )
        for broker in partition.brokers
    )


@always(
    "well_formed",
    "offsets of logs and segments are in order, and what is not there is blank",
    premise=lambda partition: some(segment.copy == Copy.FINISHED for segment in partition.segments),
    breach="is in a malformed state",
    broken_by="a follower that keeps the epochs of what it truncates",
)
def well_formed(partition: Tiered) -> bool:
    """One state has one representation."""
    logs = every(
        all_of(
            broker.log_start <= broker.local_start,
            broker.local_start <= broker.end,
            broker.next_base <= broker.end,
            implies(broker.leads, broker.up),
            implies(broker.next_base >= 0, broker.leads),
            implies(broker.copied_to >= 0, broker.next_base >= 0),
            implies(broker.copied_to >= 0, broker.next_base < broker.copied_to),
            broker.copied_to <= broker.end,
            implies(broker.led_in >= 0, broker.leads),
            broker.led_in < partition.epoch,
            implies(
                broker.kept_epoch >= 0,
                all_of(not_(broker.leads), partition.has_bare_cache(broker)),
            ),
            every(
                implies(
                    any_of(place.number < broker.log_start, place.number >= broker.end),
                    broker.lineage[place] == NO_EPOCH,
                )
                for place in partition.places
            ),
        )
        for broker in partition.brokers
    )
    copies = every(
        all_of(
            implies(segment.copy == Copy.NONE, segment.until == 0),
            implies(segment.copy != Copy.NONE, segment.first < segment.until),
            every(
                all_of(
                    (segment.lineage[place] != NO_EPOCH)
                    == all_of(segment.first <= place.number, place.number < segment.until),
                    implies(segment.listed[place], segment.copy == Copy.FINISHED),
                )
                for place in partition.places
            ),
        )
        for segment in partition.segments
    )
    return all_of(logs, copies)


@sometimes("a_record_is_remote_alone", "a committed record is in no local log, and is served")
def a_record_is_remote_alone(partition: Tiered) -> bool:
    """Without that, the remote store would be idle."""
    return some(
        all_of(
            _is_owed(partition, place),
            every(not_(partition.is_local(broker, place)) for broker in partition.brokers),
            some(
                all_of(partition.is_leader(broker), _serves(partition, broker, place))
                for broker in partition.brokers
            ),
        )
        for place in partition.places
    )


@sometimes("a_former_leader_copies", "a broker that leads no more finishes a copy", of_steps=True)
def a_former_leader_copies(before: Tiered, after: Tiered) -> bool:
    """Without that, two leaders' copies could not overlap in time."""
    return some(
        all_of(
            segment.copy == Copy.STARTED,
            after.segments[segment.number].copy == Copy.FINISHED,
            before.leader != segment.copier,
        )
        for segment in before.segments
    )


@sometimes("a_replica_is_built_from_the_tier", "a follower knows epochs that were never local")
def a_replica_is_built_from_the_tier(partition: Tiered) -> bool:
    """Without that, nothing would be read from the remote store but records."""
    return some(
        all_of(
            broker.end > 0,
            broker.local_start == broker.end,
            not_(partition.is_leader(broker)),
            some(broker.lineage[place] != NO_EPOCH for place in partition.places),
        )
        for broker in partition.brokers
    )


KAFKA_TIERED_PROPERTIES: tuple[Property, ...] = (
    committed_is_readable,
    committed_is_kept,
    log_start_moves_by_retention,
    reads_are_of_the_leaders_log,
    log_start_is_served,
    untiered_log_is_local,
    well_formed,
    a_record_is_remote_alone,
    a_former_leader_copies,
    a_replica_is_built_from_the_tier,
)
