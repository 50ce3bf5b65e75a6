"""The state of the tiered model: brokers, remote segments, and what is committed.

One leader appends in each epoch, so a record is told by its offset and its epoch. The *lineage* of
a broker is the epoch of each offset as its leader epoch cache has it, local log or not; an offset
that the cache does not reach has none. `LeaderEpochFileCache` keeps where each epoch starts, which
is the same.

Abstracted, as in the models of clients: the ISR (a clean election takes any broker that has every
committed record), the high watermark (one for all, and known to all), where segments roll (between
any two records), and the remote log's metadata, which all brokers see at once.
"""

from __future__ import annotations

from enum import IntEnum

from model.kafka_tiered.bounds import BOUNDS, BROKERS, COPIES, LOG_SIZE
from model.kafka_tiered.settings import ReadEnds, TieredSettings
from model.language import (
    Annotated,
    Budgets,
    Entity,
    Members,
    PerMember,
    State,
    Table,
    all_of,
    any_of,
    choose,
    count,
    every,
    for_each,
    implies,
    integers,
    largest,
    maximum,
    members,
    minimum,
    not_,
    smallest,
    some,
    table,
)
from model.replicated_log import NO_EPOCH, LeaderEpoch, LeaderEpochOrNone, Offset

UNKNOWN = -1
OffsetOrNone = Annotated[int, integers(UNKNOWN, LOG_SIZE, none=UNKNOWN)]


class Copy(IntEnum):
    """How far the copy of a segment is (`RemoteLogSegmentState`)."""

    NONE = 0
    STARTED = 1
    FINISHED = 2
    DELETED = 3


class Place(Entity):
    """An offset, by its number."""

    _label = "offset "

    committed: LeaderEpochOrNone = NO_EPOCH


class Broker(Entity):
    """A broker with a replica.

    `leads`: by its own view, so a former leader may, until it hears of the new one. `follows`: it
    has heard of the partition's latest leader. `building`: it has truncated its log, and not yet
    read the epochs from the remote store. `ousted`: it has not followed anybody since an unclean
    election, which left the new leader alone in the ISR. `next_base`: where the next segment that
    its task copies begins; none as long as the task has not looked up what is copied. `copied_to`:
    the first offset that the task takes to be not copied, if the next segment begins before it.
    `led_in`: of a former leader that has not heard of it, its epoch.
    `noted_start`: where it takes its local log to start, if it is mistaken in that (KAFKA-15695).
    `kept_epoch`: of a log that starts where it ends, and does not lead, the epoch of the entry that
    its cache keeps: of the last record that was there, or in which it led.
    """

    _label = "b"

    up: bool = True
    leads: bool = False
    follows: bool = True
    building: bool = False
    ousted: bool = False
    lineage: PerMember[Place, LeaderEpochOrNone] = for_each(NO_EPOCH)
    log_start: Offset = 0
    local_start: Offset = 0
    end: Offset = 0
    next_base: OffsetOrNone = UNKNOWN
    copied_to: OffsetOrNone = UNKNOWN
    led_in: LeaderEpochOrNone = NO_EPOCH
    noted_start: OffsetOrNone = UNKNOWN
    kept_epoch: LeaderEpochOrNone = NO_EPOCH

    @property
    def bare_epoch(self) -> int:
        """The epoch of the one entry of its cache, where that is of no record in the log."""
        return choose(self.led_in == NO_EPOCH, self.kept_epoch, self.led_in)

    def forget_tasks(self) -> None:
        """It leads no more: its tasks are cancelled."""
        self.leads = False
        self.copy_next(UNKNOWN, UNKNOWN)
        self.led_in = NO_EPOCH

    def copy_next(self, base: int, copied: int) -> None:
        """Its task's next segment begins at `base`; what is before `copied` is copied already."""
        self.next_base = base
        self.copied_to = choose(base < copied, copied, UNKNOWN)


class Segment(Entity):
    """A copy of a segment in the remote store: offsets from `first` to before `until`.

    `lineage`: the epochs of its records; `listed`: an epoch starts here in this segment, and reads
    of that epoch are led to it from here on (`RemoteLogLeaderEpochState.offsetToId`). `dropped`: an
    epoch starts here in it, and the map of that epoch has lost it: nobody reads it by that epoch,
    and nobody deletes it.
    """

    _label = "segment "

    copy: Copy = Copy.NONE
    copier: Broker | None = None
    first: Offset = 0
    until: Offset = 0
    lineage: PerMember[Place, LeaderEpochOrNone] = for_each(NO_EPOCH)
    listed: PerMember[Place, bool] = for_each(False)
    dropped: PerMember[Place, bool] = for_each(False)

    @property
    def was_finished(self) -> bool:
        """Its copy has finished, whether it is still there or not."""
        return any_of(self.copy == Copy.FINISHED, self.copy == Copy.DELETED)


class Spent(Budgets, of=BOUNDS):
    """How much of each budget is used up."""


class Tiered(State):
    """A partition of a tiered topic. `expired_to`: what retention has deleted is below.

    What is appended below it after an unclean election counts as deleted, too. `unclean_epoch`: in
    which a leader was last elected uncleanly. What is older, and is not committed by then, was lost
    by an unclean election, or never promised. `tiered`: the topic has `remote.storage.enable`.
    """

    places: Table[Place] = table(LOG_SIZE)
    brokers: Members[Broker] = members(BROKERS)
    segments: Table[Segment] = table(COPIES)
    epoch: LeaderEpoch = 0
    leader: Broker | None = None
    expired_to: Offset = 0
    unclean_epoch: LeaderEpoch = 0
    tiered: bool = True
    spent: Spent = Spent.part()

    @property
    def options(self) -> TieredSettings:
        """The settings, with their type."""
        settings: TieredSettings = self.settings
        return settings

    @property
    def high_watermark(self) -> int:
        """The offset after the last committed record."""
        return count(place.committed != NO_EPOCH for place in self.places)

    def is_leader(self, broker: Broker) -> bool:
        """It is the partition's leader, and knows it."""
        return all_of(self.leader == broker, broker.leads)

    def cache_start(self, broker: Broker) -> int:
        """The first offset of which its leader epoch cache knows the epoch; its end if none."""
        return smallest(
            choose(broker.lineage[place] != NO_EPOCH, place.number, broker.end)
            for place in self.places
        )

    def raise_log_start(self, broker: Broker, offset: int) -> None:
        """Raise its log start, at most to its end, and drop epochs and records that are below."""
        start = maximum(broker.log_start, minimum(offset, broker.end))
        broker.log_start = start
        broker.local_start = maximum(broker.local_start, start)
        base = choose(broker.next_base == UNKNOWN, UNKNOWN, maximum(broker.next_base, start))
        broker.copy_next(base, broker.copied_to)
        last = largest(broker.lineage[place] for place in self.places)
        emptied = all_of(not_(broker.leads), last != NO_EPOCH, start == broker.end)
        broker.kept_epoch = choose(emptied, last, broker.kept_epoch)
        for place in self.places:
            broker.lineage[place] = choose(place.number < start, NO_EPOCH, broker.lineage[place])

    def truncate_fully(self, broker: Broker, offset: int, log_start: int) -> None:
        """Drop all records and epochs: an empty log at `offset` (`truncateFullyAndStartAt`)."""
        if not self.options.build_moves_local_start:
            broker.noted_start = maximum(self.noted_start(broker), log_start)
        broker.log_start = log_start
        broker.local_start = offset
        broker.end = offset
        broker.kept_epoch = NO_EPOCH
        for place in self.places:
            broker.lineage[place] = NO_EPOCH

    def stop(self, broker: Broker) -> None:
        """Its process ends: what it had begun to copy is not finished, as if never begun."""
        bare = all_of(broker.leads, self.has_bare_cache(broker))
        led_in = choose(broker.led_in == NO_EPOCH, self.epoch, broker.led_in)
        kept = choose(bare, led_in, broker.kept_epoch)
        broker.kept_epoch = kept if self.options.restart_keeps_last_epoch else NO_EPOCH
        broker.up = False
        broker.follows = False
        broker.forget_tasks()
        for segment in self.segments:
            self.forget_copy(segment, where=segment.copier == broker)

    def forget_copy(self, segment: Segment, where: bool) -> None:
        """A copy that has begun is as if it never had, where the condition holds."""
        begun = all_of(where, segment.copy == Copy.STARTED)
        segment.copy = choose(begun, Copy.NONE, segment.copy)
        segment.copier = choose(begun, None, segment.copier)
        segment.first = choose(begun, 0, segment.first)
        segment.until = choose(begun, 0, segment.until)
        for place in self.places:
            segment.lineage[place] = choose(begun, NO_EPOCH, segment.lineage[place])

    def noted_start(self, broker: Broker) -> int:
        """Where it takes its local log to start: it looks in the remote store for what is below."""
        return choose(broker.noted_start == UNKNOWN, broker.local_start, broker.noted_start)

    def finds(self, segment: Segment, reader: Broker, place: Place) -> bool:
        """A read at an offset, by the reader's epoch for it, is led to the segment, and has it.

        It is led to the segment that is listed for the epoch at the nearest offset up to that one
        (`RemoteLogMetadataCache.remoteLogSegmentMetadata`); if that ends before, nothing is found.
        """
        return all_of(self.tiered, self._has_for(segment, reader.lineage[place], place))

    def _has_for(self, segment: Segment, epoch: int, place: Place) -> bool:
        return all_of(
            epoch != NO_EPOCH,
            segment.lineage[place] == epoch,
            some(
                all_of(
                    segment.listed[start],
                    segment.lineage[start] == epoch,
                    start.number <= place.number,
                    not_(
                        some(
                            all_of(
                                other.listed[later],
                                other.lineage[later] == epoch,
                                start.number < later.number,
                                later.number <= place.number,
                            )
                            for other in self.segments
                            for later in self.places
                        )
                    ),
                )
                for start in self.places
            ),
        )

    def reads(self, segment: Segment, reader: Broker, place: Place, later: Place) -> bool:
        """A read at `place` that is led to the segment returns its record at `later` too.

        The buffer is filled from the segment, as far as that goes (`RemoteLogManager.read`).
        """
        ends = self.options.read_ends
        inside = all_of(place.number <= later.number, segment.lineage[later] != NO_EPOCH)
        if ends == ReadEnds.WITH_SEGMENT:
            return inside
        cached = all_of(inside, reader.lineage[later] == reader.lineage[place])
        if ends == ReadEnds.WITH_CACHED_EPOCH:
            return cached
        return all_of(cached, segment.lineage[later] == segment.lineage[place])

    def is_local(self, broker: Broker, place: Place) -> bool:
        """The broker's local log has a record at the offset."""
        return all_of(broker.local_start <= place.number, place.number < broker.end)

    def lacks_nothing(self, broker: Broker) -> bool:
        """It may be in the ISR: what its log has is right, and reaches the high watermark.

        Its fetch counts at an offset that the leader's local log has, or ends at.
        Where nothing is local, its fetch names the epoch that its cache has last: if that diverges
        from the leader's log, it is told so, and does not count.
        """
        return all_of(
            not_(any_of(broker.building, broker.ousted)),
            broker.end >= self.high_watermark,
            every(
                implies(self.leader == other, broker.end >= other.local_start)
                for other in self.brokers
            ),
            every(
                implies(
                    all_of(
                        place.committed != NO_EPOCH,
                        any_of(
                            broker.local_start <= place.number,
                            broker.lineage[place] != NO_EPOCH,
                        ),
                    ),
                    broker.lineage[place] == place.committed,
                )
                for place in self.places
            ),
        )

    def knows_no_epoch(self, broker: Broker) -> bool:
        """Its leader epoch cache has the epoch of no record in its log."""
        return every(broker.lineage[place] == NO_EPOCH for place in self.places)

    def has_bare_cache(self, broker: Broker) -> bool:
        """All that its cache can have is one entry, at the end of its log, beyond offset 0."""
        return all_of(broker.end > 0, self.knows_no_epoch(broker))

    def remote_end(self, broker: Broker) -> int:
        """The offset after the last that is copied, by the broker's epochs from the latest on.

        `RemoteLogManager.findHighestRemoteOffset`: deleted segments count as well, without the fix
        of finding 0039.
        """
        reached = largest(
            choose(self._is_copied_of(broker.lineage[place]), place.number + 1, 0)
            for place in self.places
        )
        epoch = largest(
            choose(self._is_copied_of(broker.lineage[place]), broker.lineage[place], NO_EPOCH)
            for place in self.places
        )
        highest = largest(
            choose(self._was_copied(epoch, place), place.number + 1, 0) for place in self.places
        )
        if self.options.remote_end_by_lineage:
            highest = minimum(highest, reached)
        return choose(epoch == NO_EPOCH, 0, minimum(highest, broker.end))

    def _was_copied(self, epoch: int, place: Place) -> bool:
        return some(
            all_of(segment.was_finished, segment.lineage[place] == epoch)
            for segment in self.segments
        )

    def _is_copied_of(self, epoch: int) -> bool:
        """Something of the epoch was copied; with the fix of 0039, its last record is there."""
        if not self.options.remote_end_is_there:
            copied = some(self._was_copied(epoch, place) for place in self.places)
            return all_of(epoch != NO_EPOCH, copied)
        return some(
            all_of(
                self._was_copied(epoch, last),
                every(
                    implies(last.number < later.number, not_(self._was_copied(epoch, later)))
                    for later in self.places
                ),
                some(self._has_for(segment, epoch, last) for segment in self.segments),
            )
            for last in self.places
        )


def start(partition: Tiered) -> None:
    """The first broker leads, in epoch 0, an empty log."""
    first = partition.brokers[0]
    partition.leader = first
    first.leads = True
