"""`RemoteLogLeaderEpochState`: which segment a read of an epoch is led to, from which offset on.

There is one map for each epoch, from the offset at which the epoch starts in a segment.
"""

from __future__ import annotations

from model.kafka_tiered.state import Copy, Place, Segment, Tiered
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


def _gives_way(partition: Tiered, other: Segment, place: Place, segment: Segment) -> bool:
    """What is listed there makes room for the segment: the same start, or covered from there on.

    Covered means that no segment of the epoch that ever finished goes further.
    """
    epoch = other.lineage[place]
    if partition.options.map_drops_covered:
        covered = not_(
            some(
                all_of(each.was_finished, _goes_further(partition, each, segment, epoch))
                for each in partition.segments
            )
        )
    else:
        covered = False
    if partition.options.map_keeps_longer:
        replaced = not_(_goes_further(partition, other, segment, epoch))
    else:
        replaced = True
    return some(
        all_of(
            _starts(partition, segment, start),
            segment.lineage[start] == epoch,
            start.number <= place.number,
            any_of(all_of(start.number == place.number, replaced), covered),
        )
        for start in partition.places
    )


def list_finished(partition: Tiered, segment: Segment) -> None:
    """List the segment for each of its epochs, in place of what it covers or what starts there."""
    keeps_longer = partition.options.map_keeps_longer
    for place in partition.places:
        hidden = _is_hidden(partition, segment, place) if keeps_longer else False
        segment.listed[place] = all_of(_starts(partition, segment, place), not_(hidden))
    for other in partition.segments:
        for place in partition.places:
            gives_way = all_of(other != segment, _gives_way(partition, other, place, segment))
            other.listed[place] = all_of(other.listed[place], not_(gives_way))


def delete(partition: Tiered, segment: Segment, where: bool = True) -> None:
    """Where the condition holds, it is deleted, and listed no more; how far it went is known."""
    segment.copy = choose(where, Copy.DELETED, segment.copy)
    for place in partition.places:
        segment.listed[place] = all_of(segment.listed[place], not_(where))
