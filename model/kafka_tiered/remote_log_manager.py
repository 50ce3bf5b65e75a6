"""`RemoteLogManager`: the tasks that copy segments, delete them, and make room in local logs."""

from __future__ import annotations

from model.kafka_tiered import remote_log_leader_epoch_state as listing
from model.kafka_tiered.bounds import EXPIRATIONS, LOG_SIZE
from model.kafka_tiered.state import UNKNOWN, Broker, Copy, Segment, Tiered
from model.language import (
    Annotated,
    action,
    all_of,
    any_of,
    choose,
    every,
    implies,
    integers,
    largest,
    maximum,
    not_,
    require,
    smallest,
    some,
    spend,
)
from model.replicated_log import NO_EPOCH

Cut = Annotated[int, integers(0, LOG_SIZE)]


def _shares_a_record(partition: Tiered, broker: Broker, segment: Segment) -> bool:
    """Some record of the segment is one of the broker's log, and so are all before it."""
    return some(
        all_of(
            segment.lineage[place] != NO_EPOCH,
            segment.lineage[place] == broker.lineage[place],
        )
        for place in partition.places
    )


def _is_of_lineage(partition: Tiered, broker: Broker, segment: Segment) -> bool:
    """All of the segment that the broker has epochs for has these epochs.

    `RemoteLogManager.isRemoteSegmentWithinLeaderEpochs`.
    """
    return all_of(
        segment.until <= broker.end,
        _shares_a_record(partition, broker, segment),
        every(
            implies(
                all_of(segment.lineage[place] != NO_EPOCH, broker.lineage[place] != NO_EPOCH),
                segment.lineage[place] == broker.lineage[place],
            )
            for place in partition.places
        ),
    )


def remote_start(partition: Tiered, broker: Broker) -> int:
    """Where the first remote segment of the earliest epoch begins that has one; or the local start.

    `RemoteLogManager.findLogStartOffset`.
    """

    by_lineage = partition.options.remote_start_by_lineage

    def has(segment: Segment, epoch: int) -> bool:
        return all_of(
            epoch != NO_EPOCH,
            any_of(segment.copy == Copy.STARTED, segment.copy == Copy.FINISHED),
            listing.is_known_by(partition, segment, epoch),
            _shares_a_record(partition, broker, segment) if by_lineage else True,
        )

    after_all = partition.bound("max_leader_epoch") + 1
    earliest = smallest(
        choose(
            some(has(segment, broker.lineage[place]) for segment in partition.segments),
            broker.lineage[place],
            after_all,
        )
        for place in partition.places
    )
    first = smallest(
        choose(has(segment, earliest), segment.first, broker.end) for segment in partition.segments
    )
    return choose(earliest == after_all, broker.local_start, first)


@action(
    "{broker} looks up what is copied; its next segment begins at {base}",
    at="RLMCopyTask.maybeUpdateCopiedOffset",
    since="3.6.0",
    about="KAFKA-15241, KAFKA-15351",
    settings="remote.end.by.lineage, remote.start.by.lineage, remote.start.is.looked.up",
)
def leader_find_remote_end(partition: Tiered, broker: Broker, base: Cut) -> None:
    """A copy task's first run: the log start, and what is copied, are looked up once.

    The next segment is that with the first offset that is not copied, so that it may begin before.
    """
    require(partition.tiered, broker.up, broker.leads, broker.next_base == UNKNOWN)
    start = broker.log_start
    if partition.options.log_start_is_looked_up:
        start = maximum(start, remote_start(partition, broker))
    first = maximum(partition.remote_end(broker), start)
    require(base >= broker.local_start, base >= start, base <= maximum(first, broker.local_start))
    require(start <= broker.end, start <= maximum(partition.high_watermark, broker.log_start))

    partition.raise_log_start(broker, start)
    broker.copy_next(base, first)


@action(
    "{broker} begins to copy its records to before {end}, as {segment}",
    at="RLMCopyTask.copyLogSegment",
    since="3.6.0",
)
def leader_begin_copy(partition: Tiered, broker: Broker, segment: Segment, end: Cut) -> None:
    """A segment that is not the active one, and committed; one at a time, as its leader sees it.

    It has something that the task takes to be not copied (`candidateLogSegments`).
    """
    base = broker.next_base
    require(broker.up, broker.leads, base != UNKNOWN, base < end, end <= broker.end)
    require(broker.copied_to < end)
    require(segment.copy == Copy.NONE)
    require(
        every(
            implies(other.number < segment.number, other.copy != Copy.NONE)
            for other in partition.segments
        )
    )
    require(every(other.copier != broker for other in partition.segments))
    require(
        every(
            implies(
                all_of(base <= place.number, place.number < end),
                all_of(broker.lineage[place] != NO_EPOCH, broker.lineage[place] == place.committed),
            )
            for place in partition.places
        )
    )

    segment.copy = Copy.STARTED
    segment.copier = broker
    segment.first = base
    segment.until = end
    for place in partition.places:
        inside = all_of(base <= place.number, place.number < end)
        segment.lineage[place] = choose(inside, broker.lineage[place], NO_EPOCH)


@action(
    "{broker} has copied {segment}",
    at="RemoteLogLeaderEpochState.handleSegmentWithCopySegmentFinishedState",
    since="3.6.0",
)
def leader_finish_copy(partition: Tiered, broker: Broker, segment: Segment) -> None:
    """The copy is listed. Nothing asks whether the broker still leads.

    The next segment begins after it, and not below where the log starts by then. A copy that a task
    of an earlier leadership began moves nothing of a later task.
    """
    require(broker.up, segment.copy == Copy.STARTED, segment.copier == broker)

    start = broker.log_start
    mine = broker.next_base == maximum(segment.first, start)
    is_its_log = every(
        implies(
            all_of(segment.lineage[place] != NO_EPOCH, place.number >= start),
            segment.lineage[place] == broker.lineage[place],
        )
        for place in partition.places
    )
    goes_on = all_of(broker.leads, mine, is_its_log)
    base = choose(goes_on, maximum(segment.until, start), broker.next_base)
    broker.copy_next(base, broker.copied_to)
    listing.list_finished(partition, segment)
    segment.copy = Copy.FINISHED
    segment.copier = None


def _has_remote_before(partition: Tiered, broker: Broker, offset: int) -> bool:
    """The remote store has a record of the broker's log from before the offset."""
    return some(
        all_of(
            segment.copy == Copy.FINISHED,
            place.number < offset,
            segment.lineage[place] != NO_EPOCH,
            segment.lineage[place] == broker.lineage[place],
        )
        for segment in partition.segments
        for place in partition.places
    )


@action(
    "{broker} deletes its local records before {start}",
    at="UnifiedLog.deleteRetentionMsBreachedSegments",
    since="3.6.0",
    settings="local.deletion.moves.log.start",
)
def broker_delete_local(partition: Tiered, broker: Broker, start: Cut) -> None:
    """Local retention: what is copied, as the broker's own task has found."""
    require(
        partition.tiered, broker.up, any_of(broker.leads, broker.follows), not_(broker.building)
    )
    copied = choose(broker.leads, broker.next_base, partition.remote_end(broker))
    require(broker.local_start < start, start <= copied, start <= broker.end)
    require(start <= partition.high_watermark)

    if partition.options.local_deletion_moves_log_start:
        gone = all_of(broker.leads, not_(_has_remote_before(partition, broker, start)))
        partition.raise_log_start(broker, choose(gone, start, broker.log_start))
    broker.local_start = start
    broker.noted_start = UNKNOWN


def _is_longer(partition: Tiered, broker: Broker, other: Segment, segment: Segment) -> bool:
    """A segment of the broker's log that begins where another does, and ends later."""
    return all_of(
        other.copy == Copy.FINISHED,
        other.first == segment.first,
        other.until > segment.until,
        _is_of_lineage(partition, broker, other),
    )


def _comes_before(partition: Tiered, broker: Broker, other: Segment, segment: Segment) -> bool:
    """The task comes to the other segment first, begun or finished, and stops there.

    Segments are sorted by where they begin; of several, the one that is listed is the first. In a
    pass that deletes a longer one as well it does not stop there.
    """
    longer = partition.options.expiry_takes_furthest and all_of(
        other.first == segment.first,
        segment.until < other.until,
        not_(listing.is_listed_first(partition, segment)),
    )
    return all_of(
        any_of(other.copy == Copy.STARTED, other.copy == Copy.FINISHED),
        any_of(other.first < segment.first, longer),
        any_of(other.copy == Copy.STARTED, listing.may_be_deleted(partition, other, broker)),
        _is_of_lineage(partition, broker, other),
    )


def _require_deletion(partition: Tiered, broker: Broker, segment: Segment) -> None:
    """Its task runs: it leads by its own view, as nothing else is asked."""
    require(partition.tiered, broker.up, broker.leads, segment.copy == Copy.FINISHED)
    if partition.options.deletion_is_fenced:
        require(partition.leader == broker)


@action(
    "{broker} deletes {segment}, which has expired",
    at="RLMExpirationTask.cleanupExpiredRemoteLogSegments",
    since="3.6.0",
    about="KAFKA-16890",
    settings="remote.deletion.is.fenced, remote.expiry.takes.furthest",
)
def leader_expire(partition: Tiered, broker: Broker, segment: Segment) -> None:
    """Retention: raise the log start past the broker's first segment, and delete that.

    Without KAFKA-16890 a longer one that begins there goes in the same pass, before it in the list;
    the log start is that of the last in the list.
    """
    _require_deletion(partition, broker, segment)
    require(_is_of_lineage(partition, broker, segment))
    require(listing.may_be_deleted(partition, segment, broker))
    require(
        every(
            not_(_comes_before(partition, broker, other, segment)) for other in partition.segments
        )
    )

    spend(partition, EXPIRATIONS)
    partition.raise_log_start(broker, segment.until)
    furthest = segment.until
    if not partition.options.expiry_takes_furthest:
        furthest = largest(
            choose(_is_longer(partition, broker, other, segment), other.until, segment.until)
            for other in partition.segments
        )
        for other in partition.segments:
            longer = _is_longer(partition, broker, other, segment)
            listing.delete(partition, other, where=longer)
    partition.expired_to = maximum(partition.expired_to, furthest)
    listing.delete(partition, segment)


@action(
    "{broker} deletes {segment}, which its epochs do not reach",
    at="RemoteLogRetentionHandler.deleteLogSegmentsDueToLeaderEpochCacheTruncation",
    since="3.6.0",
    settings="remote.deletion.is.fenced",
)
def leader_delete_unreferenced(partition: Tiered, broker: Broker, segment: Segment) -> None:
    """Delete what has epochs below the broker's earliest alone, or is below its log start.

    A leader has its own epoch in its cache, with or without a record of it.
    """
    _require_deletion(partition, broker, segment)
    own = choose(partition.leader == broker, partition.epoch, broker.led_in)
    earliest = smallest(
        choose(broker.lineage[place] != NO_EPOCH, broker.lineage[place], own)
        for place in partition.places
    )
    latest = largest(segment.lineage[place] for place in partition.places)
    expired = all_of(latest <= earliest, segment.until <= broker.log_start)
    seen = listing.may_be_deleted(partition, segment, broker)
    require(
        any_of(
            all_of(latest < earliest, listing.is_known(partition, segment)),
            all_of(expired, seen),
        )
    )

    listing.delete(partition, segment)
