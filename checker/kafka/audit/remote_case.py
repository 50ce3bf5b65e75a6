"""A partition's remote segments beside its replicas: which ones brokers read, and which offsets.

What that means is in `remote_judgement`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from checker.core.amounts import counted
from checker.kafka.audit.checkpoints import EpochStart
from checker.kafka.audit.judgement import Judgement
from checker.kafka.audit.remote import RemoteSegment
from checker.kafka.audit.remote_listing import Found, reads, without
from checker.kafka.audit.remote_metadata import Known, State
from checker.kafka.audit.segments import Stretch


@dataclass(frozen=True)
class Case:
    """The segments of a partition in the order of their offsets, and what the metadata knows."""

    judgement: Judgement
    segments: Sequence[RemoteSegment]
    known: dict[str, Known]

    def state(self, segment: RemoteSegment) -> State | None:
        known = self.known.get(segment.identity)
        return None if known is None else known.state

    def counts(self, segment: RemoteSegment) -> bool:
        """Whether brokers read it."""
        if self.known:
            return self.state(segment) is State.COPY_FINISHED
        return not segment.lacks

    def stretches(self, segment: RemoteSegment) -> list[Stretch]:
        """Its leader epochs by the metadata, which brokers go by, or by its batches."""
        known = self.known.get(segment.identity)
        if known is None or not known.epochs:
            return segment.contents.stretches
        return known.stretches

    def until(self, segment: RemoteSegment) -> int:
        stretches = self.stretches(segment)
        return stretches[-1].until if stretches else segment.base

    @cached_property
    def log_start(self) -> int:
        """The highest log start that is checkpointed, or 0."""
        return max((each.log_start or 0 for each in self.judgement.group.replicas), default=0)

    @cached_property
    def read_by_brokers(self) -> list[RemoteSegment]:
        """The segments that count, of which something is at or above the log start, by offset."""
        return [
            each
            for each in self.segments
            if self.counts(each) and self.until(each) > self.log_start
        ]

    @cached_property
    def found(self) -> dict[int, list[Found]]:
        """By leader epoch, what reads find; nothing without metadata."""
        return reads(self.known.values())

    def hidden(self, segment: RemoteSegment) -> list[tuple[int, int]]:
        """The offsets of a segment that counts at which reads find nothing."""
        if not self.known or not self.counts(segment):
            return []
        spans = [(max(s.first, self.log_start), s.until, s.epoch) for s in self.stretches(segment)]
        return [
            span
            for first, until, epoch in spans
            if first < until
            for span in without((first, until), self.found.get(epoch, ()))
        ]

    def readable(self, segment: RemoteSegment) -> list[tuple[int, int]]:
        """The offsets that a segment has, but for those that are hidden."""
        hidden = [Found(first, until, segment.identity) for first, until in self.hidden(segment)]
        return [left for part in parts(segment) for left in without(part, hidden)]

    def hides(self, epoch: int, offset: int) -> str:
        """In words, where a read is led that finds nothing there."""
        before = [each for each in self.found.get(epoch, ()) if each.first <= offset]
        if not before:
            return "to none"
        nearest = max(before, key=lambda each: each.first)
        return f"to remote segment {nearest.identity}, which ends before"

    def reached(self, segment: RemoteSegment, chain: Sequence[EpochStart] | None) -> bool:
        """Whether leader epochs name those of a segment at its offsets, from their first one on."""
        if not chain:
            return False
        starts, stretches = [offset for _, offset in chain], self.stretches(segment)
        if not stretches or stretches[-1].until <= starts[0]:
            return False

        def at(offset: int) -> int:
            return chain[bisect_right(starts, offset) - 1][0]

        return all(
            at(max(each.first, starts[0])) == each.epoch == at(each.until - 1)
            for each in stretches
            if each.until > starts[0]
        )

    def reached_by_any(self, segment: RemoteSegment) -> bool:
        return any(self.reached(segment, each.epochs) for each in self.judgement.group.replicas)

    def named(self, segment: RemoteSegment) -> str:
        return f"remote segment {segment.identity} ({self.span([segment])})"

    def span(self, segments: Sequence[RemoteSegment]) -> str:
        """Their offsets and leader epochs."""
        epochs = sorted({s.epoch for each in segments for s in self.stretches(each)})
        first, until = min(s.base for s in segments), max(map(self.until, segments))
        return f"{offsets(first, until)}, {epochs_in_words(epochs)}"

    def name(self, place: int) -> str:
        return self.judgement.group.replicas[place].name

    def epoch_starts(self) -> dict[int, tuple[int, str]]:
        """Of each leader epoch the first offset of it that is known anywhere, and who says so."""
        said: list[tuple[int, int, str]] = []
        logs = self.judgement.comparison.contents
        for replica, log in zip(self.judgement.group.replicas, logs, strict=True):
            said += [(*entry, replica.name) for entry in replica.epochs or ()]
            said += [(each.epoch, each.first, replica.name) for each in log.stretches]
        for segment in self.read_by_brokers:
            name = f"remote segment {segment.identity}"
            said += [(each.epoch, each.first, name) for each in self.stretches(segment)]
        found: dict[int, tuple[int, str]] = {}
        for epoch, first, name in said:
            found[epoch] = min(found.get(epoch, (first, name)), (first, name))
        return found

    def older_than_the_store(self) -> Iterator[tuple[int, RemoteSegment, int, int]]:
        """Replicas with records of an earlier epoch than a segment: with the first one's epoch."""
        for place, log in enumerate(self.judgement.comparison.contents):
            for segment in self.read_by_brokers:
                theirs = self.stretches(segment)
                found = [
                    (max(mine.first, each.first), mine.epoch)
                    for mine in log.stretches
                    for each in theirs
                    if 0 <= mine.epoch < each.epoch
                    and max(mine.first, each.first) < min(mine.until, each.until)
                ]
                if found:
                    yield place, segment, *min(found)
                    break

    def lanes(self) -> list[list[RemoteSegment]]:
        """Segments that overlap a local log or each other, each in a row in which none does."""
        logs = self.judgement.comparison.contents
        readable = [s for s in self.read_by_brokers if ".log" in s.files and not s.error]
        lanes: list[list[RemoteSegment]] = []
        ends = 0
        for place, segment in enumerate(readable):
            end = segment.contents.end
            following = readable[place + 1].base if place + 1 < len(readable) else end
            shared = (
                segment.base < ends
                or following < end
                or any(segment.base < log.end and log.start < end for log in logs)
            )
            ends = max(ends, end)
            if shared:
                row = next((x for x in lanes if x[-1].contents.end <= segment.base), None)
                if row is None:
                    lanes.append([segment])
                else:
                    row.append(segment)
        return lanes


def parts(segment: RemoteSegment) -> list[tuple[int, int]]:
    """Offsets that a segment has, but for the first that no batch has; compaction explains none."""
    log = segment.contents
    if log.gap is None or log.sparse:
        return [(segment.base, log.end)]
    return [(segment.base, log.gap[0]), (log.gap[1], log.end)]


def deletions(segments: Sequence[Known]) -> str:
    """How many were deleted, by whom, and how old their youngest records were."""
    first, until = min(s.base for s in segments), max(s.until for s in segments)
    brokers = listed([f"broker {each}" for each in sorted({s.broker for s in segments})])
    ages = min((s.time - s.youngest) / 1000 for s in segments)
    return (
        f"{brokers} deleted {counted(len(segments), 'segment')} ({offsets(first, until)}), "
        f"{_age(ages)} or more after the last record in it"
    )


def _age(seconds: float) -> str:
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= 2 * size:
            return counted(int(seconds // size), unit)
    return counted(int(seconds), "second")


def offsets(first: int, until: int) -> str:
    return f"{first:,} to {until - 1:,}" if until - first > 1 else f"offset {first:,}"


def epochs_in_words(epochs: Sequence[int]) -> str:
    shown = ", ".join(map(str, epochs[:5])) + (", ..." if len(epochs) > 5 else "")
    return f"epoch{'s' if len(epochs) > 1 else ''} {shown}" if epochs else "no epoch"


def listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
