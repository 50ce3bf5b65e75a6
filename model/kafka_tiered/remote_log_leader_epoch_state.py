"""`RemoteLogLeaderEpochState`: which segment a read of an epoch is led to, from which offset on.

There is one map for each epoch, from the offset at which the epoch starts in a segment.
"""

from __future__ import annotations

from model.kafka_tiered.state import Broker, Copy, Place, Segment, Tiered
from model.language import all_of, any_of, choose, every, implies, not_, some
from model.replicated_log import NO_EPOCH


def _starts(partition: Tiered, segment: Segment, place: Place) -> bool:
    """An epoch starts here in the segment."""
    epoch = segment.lineage[place]
    return all_of(
        epoch != NO_EPOCH,
        every(
            implies(before.number < place.number, segment.lineage[before] != epoch)
            for before in partition.places
        ),
    )


def _starts_up_to(partition: Tiered, segment: Segment, place: Place, epoch: int) -> bool:
    """The epoch starts in the segment there or before."""
    return some(
        all_of(start.number <= place.number, segment.lineage[start] == epoch)
        for start in partition.places
    )


def _goes_further(partition: Tiered, one: Segment, other: Segment, epoch: int) -> bool:
    """One segment has records of the epoch beyond all that the other has."""
    return some(
        all_of(
            one.lineage[place] == epoch,
            every(
                implies(later.number >= place.number, other.lineage[later] != epoch)
                for later in partition.places
            ),
        )
        for place in partition.places
    )


def _is_hidden(partition: Tiered, segment: Segment, start: Place) -> bool:
    """A segment that is there begins no later in the epoch, and goes further."""
    epoch = segment.lineage[start]
    return some(
        all_of(
            other.copy == Copy.FINISHED,
            other.lineage[place] == epoch,
            place.number <= start.number,
            _goes_further(partition, other, segment, epoch),
        )
        for other in partition.segments
        for place in partition.places
    )


def _is_covered(partition: Tiered, other: Segment, place: Place, segment: Segment) -> bool:
    """What is listed there begins no earlier than the segment, which goes as far as any.

    Any is a segment of the epoch that ever finished (`highestLogOffset`).
    """
    if not partition.options.map_drops_covered:
        return False
    epoch = other.lineage[place]
    return all_of(
        _starts_up_to(partition, segment, place, epoch),
        not_(
            some(
                all_of(each.was_finished, _goes_further(partition, each, segment, epoch))
                for each in partition.segments
            )
        ),
    )


def _is_replaced(partition: Tiered, other: Segment, place: Place, segment: Segment) -> bool:
    """The segment's epoch starts just where what is listed there starts."""
    epoch = other.lineage[place]
    keeps = _goes_further(partition, other, segment, epoch)
    return all_of(
        _starts(partition, segment, place),
        segment.lineage[place] == epoch,
        not_(keeps) if partition.options.map_keeps_longer else True,
    )


def list_finished(partition: Tiered, segment: Segment) -> None:
    """List the segment for each of its epochs, in place of what it covers or what starts there.

    What it covers is kept as unreferenced, for deletion. What it replaces though it does not go as
    far as any is put out of the map as if it had never been: that is how KAFKA-15168 was mended.
    """
    keeps_longer = partition.options.map_keeps_longer
    for place in partition.places:
        hidden = _is_hidden(partition, segment, place) if keeps_longer else False
        segment.listed[place] = all_of(_starts(partition, segment, place), not_(hidden))
    for other in partition.segments:
        for place in partition.places:
            listed = all_of(other != segment, other.listed[place])
            covered = _is_covered(partition, other, place, segment)
            replaced = _is_replaced(partition, other, place, segment)
            if partition.options.map_drops_covered and not keeps_longer:
                lost = all_of(listed, replaced, not_(covered))
                other.dropped[place] = any_of(other.dropped[place], lost)
            gives_way = all_of(listed, any_of(covered, replaced))
            other.listed[place] = all_of(other.listed[place], not_(gives_way))


def delete(partition: Tiered, segment: Segment, where: bool = True) -> None:
    """Where the condition holds, it is deleted, and listed no more; how far it went is known."""
    segment.copy = choose(where, Copy.DELETED, segment.copy)
    for place in partition.places:
        segment.listed[place] = all_of(segment.listed[place], not_(where))
        segment.dropped[place] = all_of(segment.dropped[place], not_(where))


def is_known_by(partition: Tiered, segment: Segment, epoch: int) -> bool:
    """The map of the epoch knows of the segment (`listAllRemoteLogSegments`)."""
    return some(
        all_of(
            _starts(partition, segment, start),
            segment.lineage[start] == epoch,
            not_(segment.dropped[start]),
        )
        for start in partition.places
    )


def may_be_deleted(partition: Tiered, segment: Segment, broker: Broker) -> bool:
    """The map of an epoch that the broker's cache has knows of the segment."""
    return some(
        is_known_by(partition, segment, broker.lineage[place]) for place in partition.places
    )


def is_known(partition: Tiered, segment: Segment) -> bool:
    """The map of one of its epochs knows of the segment."""
    return some(
        is_known_by(partition, segment, segment.lineage[place]) for place in partition.places
    )


def is_listed_first(partition: Tiered, segment: Segment) -> bool:
    """Reads at its first record are led to it."""
    return some(
        all_of(place.number == segment.first, segment.listed[place]) for place in partition.places
    )
