"""What comparing replicas means: what contradicts a checkpointed high watermark, and what does not.

A broker checkpoints a high watermark *h* only of a log that holds all records below it, and they
were committed: every later leader must hold them too. Four things contradict that, and only these
are *violations*:

- MISSING: a log ends, or has a hole, below its own *h*. No other replica's *h* counts: one that is
  out of sync may be behind.
- UNREADABLE: bytes below its own *h* are no batch, and some of them are of the log.
- LEFT_OUT: a leader epoch began, by another replica's log or epoch cache, at or below a record of
  an earlier epoch that is below its own replica's *h*. Whoever led then did not have the record.
  It shows even if the other log holds nothing at that offset. An entry of an epoch cache at or
  beyond its log's end may be stale, but it was written when that epoch began there.
- DIFFERS: two logs hold different records of one epoch below either *h*. (Of different epochs, the
  earlier one is either below its own *h*, which is LEFT_OUT, or was never known to be committed.)

The controllers' log has no checkpoint; the end of its newest snapshot counts as its *h*, and
`quorum` finds LEADERS and VOTERS. A log that ends before its own snapshot is not MISSING: Kafka
begins it at the snapshot then. DIFFERS counts at any offset there, for an epoch has one leader.

Compaction explains holes; one is taken for granted if a cleaner's checkpoint or a batch with fewer
records than offsets shows it anywhere in the group, for followers copy what their leader has left.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations

from checker.core.amounts import counted
from checker.kafka.audit.checkpoints import EpochStart
from checker.kafka.audit.comparison import Comparison, Pair, compare, records_held
from checker.kafka.audit.directories import Group, Replica
from checker.kafka.audit.epochs import cache_contradictions, has_older
from checker.kafka.audit.quorum import Node, contradictions, notices
from checker.kafka.audit.remote import Remote
from checker.kafka.audit.segments import Contents, read_log


class Kind(StrEnum):
    """How a record below a checkpointed high watermark is gone, or a quorum contradicts itself."""

    MISSING = "missing"
    UNREADABLE = "unreadable"
    LEFT_OUT = "left_out"
    DIFFERS = "differs"
    LEADERS = "leaders"
    VOTERS = "voters"
    INCOMPLETE = "incomplete"
    UNCOVERED = "uncovered"
    FORGOTTEN = "forgotten"


@dataclass(frozen=True)
class Violation:
    """Records below the checkpointed high watermark of `replica` that it, or a later leader, lacks.

    `offset` is the first, `epoch` its leader's if it can still be read. `other` is a replica that
    has it, or that contradicts. What is of a remote segment names that, and a replica if there is
    one.
    """

    kind: Kind
    replica: int | None
    offset: int
    words: str
    epoch: int | None = None
    other: int | None = None
    segment: str | None = None


@dataclass(frozen=True)
class Judgement:
    """A partition's replicas compared, and what is to be thought of it."""

    group: Group
    comparison: Comparison
    violations: tuple[Violation, ...]
    notices: tuple[str, ...]
    quorum: tuple[Node, ...] = ()
    remote: Remote | None = None

    def agreed(self, pair: Pair) -> tuple[int, int] | None:
        """The offsets, from and to (exclusive), on which two logs agree; `None` if on none."""
        first, second = (self.comparison.contents[place] for place in pair)
        difference = self.comparison.first_difference(pair)
        start, end = max(first.start, second.start), min(first.end, second.end)
        end = end if difference is None else min(end, difference.offset)
        return (start, end) if self.alike(pair) else None

    def alike(self, pair: Pair) -> int:
        """At how many of these offsets both logs have what can be read, and the same."""
        return self.comparison.alike.get(pair, 0)

    @property
    def unread(self) -> int:
        """How many places of the logs cannot be read, whether that is a violation or not."""
        logs = zip(self.group.replicas, self.comparison.contents, strict=True)
        local = sum(len(log.damage) + bool(zeros_lost(replica, log)) for replica, log in logs)
        return local + (0 if self.remote is None else self.remote.unread)

    @property
    def unclaimed(self) -> int:
        """Of how many replicas no high watermark is checkpointed, which says nothing of them."""
        return sum(replica.high_watermark is None for replica in self.group.replicas)


def judge(group: Group) -> Judgement:
    """Read and compare a partition's replicas. Raises `UsageError` for what cannot be read."""
    comparison = compare(group.replicas)
    case = _Case(group.replicas, comparison.contents, comparison)
    rescue = _held_aside(group, max(log.end for log in comparison.contents))
    quorum = tuple(Node(each.name, each.folder) for each in group.replicas if each.is_of_quorum)
    violations = (
        *case.missing(), *case.unreadable(), *case.left_out(), *case.differing(),
        *_of_quorum(quorum),
    )  # fmt: skip
    noticed = (*case.notices(), *rescue, *notices(quorum))
    return Judgement(group, comparison, in_order(violations), noticed, quorum)


def in_order(violations: Sequence[Violation]) -> tuple[Violation, ...]:
    """By offset, then by replica."""

    def place(each: Violation) -> tuple[int, int]:
        return each.offset, -1 if each.replica is None else each.replica

    return tuple(sorted(violations, key=place))


def _of_quorum(nodes: Sequence[Node]) -> Iterator[Violation]:
    for each in contradictions(nodes):
        yield Violation(Kind(each.kind), each.node, each.offset, each.words, each.epoch, each.other)


def _held_aside(group: Group, end: int) -> Iterator[str]:
    """In words, which copies that Kafka threw away go on where all replicas end."""
    for folder in group.set_aside:
        copy = Contents()
        for _ in read_log(folder, None, copy):
            pass
        if copy.end > end:
            yield (
                f"{folder}, set aside by Kafka, holds records up to {copy.end - 1:,}; "
                f"the replicas end at {end:,}"
            )


@dataclass(frozen=True)
class _Case:
    replicas: Sequence[Replica]
    contents: Sequence[Contents]
    comparison: Comparison

    def watermark(self, place: int) -> int:
        """Its own checkpointed high watermark; 0 if there is none, which claims nothing."""
        return self.replicas[place].high_watermark or 0

    def name(self, place: int) -> str:
        return self.replicas[place].name

    @property
    def is_compacted(self) -> bool:
        cleaned = any(replica.cleaned_to is not None for replica in self.replicas)
        return cleaned or any(contents.sparse for contents in self.contents)

    def missing(self) -> Iterator[Violation]:
        for place, (replica, log) in enumerate(zip(self.replicas, self.contents, strict=True)):
            high = self.watermark(place)
            if log.end < high and not replica.set_aside and not replica.is_of_quorum:
                holder = self.holder(place, log.end)
                words = (
                    f"{self.name(place)} lacks the records from {log.end:,} to {high - 1:,}, "
                    f"below its high watermark {high:,}: {self.kept(log.end, high)}"
                )
                yield Violation(
                    Kind.MISSING, place, log.end, words, other=holder
                )  # fmt: skip
            hole = self.comparison.holes.get(place)
            if hole is not None and hole.offset < high and not self.is_compacted:
                words = (
                    f"{self.name(place)} has no record at {hole.offset:,}, below its high "
                    f"watermark {high:,}, and {self.name(hole.held_by)} has: nothing says that "
                    f"the log was compacted ({hole.count:,} such offsets in all)"
                )
                yield Violation(
                    Kind.MISSING, place, hole.offset, words, other=hole.held_by
                )  # fmt: skip
            elif log.gap is not None and log.gap[0] < high and not self.is_compacted:
                begin, until = log.gap
                words = (
                    f"{self.name(place)} has no record from {begin:,} to {until - 1:,}, below its "
                    f"high watermark {high:,}, nor has any replica here: nothing says that the log "
                    "was compacted"
                )
                yield Violation(Kind.MISSING, place, begin, words)

    def holder(self, place: int, offset: int) -> int | None:
        """Another replica whose log covers an offset."""
        return next(
            (
                other
                for other, log in enumerate(self.contents)
                if other != place and log.start <= offset < log.end
            ),
            None,
        )

    def kept(self, start: int, until: int) -> str:
        """Who holds offsets, in words."""
        longest = max(range(len(self.contents)), key=lambda place: self.contents[place].end)
        end = self.contents[longest].end
        if end <= start:
            return "no replica here holds them"
        if end < until:
            return f"{self.name(longest)} holds them up to {end - 1:,}, and none here the rest"
        return f"{self.name(longest)} holds them"

    def unreadable(self) -> Iterator[Violation]:
        for place, log in enumerate(self.contents):
            high = min(self.watermark(place), log.end)
            below = [
                each
                for each in log.damage
                if max(each.offset, log.start) < min(max(each.until, each.offset + 1), high)
            ]
            if below:
                reaches = f", up to the log start {log.start:,} and beyond,"
                words = (
                    f"{self.name(place)} has {below[0]}"
                    f"{reaches if below[0].offset < log.start else ','} below its high watermark "
                    f"{self.watermark(place):,}{_more(len(below) - 1, 'more such place')}"
                )
                yield Violation(Kind.UNREADABLE, place, max(below[0].offset, log.start), words)

    def left_out(self) -> Iterator[Violation]:
        for place, log in enumerate(self.contents):
            high = self.watermark(place)
            suspects = [
                (entry, other)
                for other in range(len(self.replicas))
                for entry in self.epochs_of(other)
                if other != place and has_older(log.stretches, entry)
            ]
            found = self.first_left_out(place, suspects)
            if found is None:
                continue
            offset, epoch, (later, began), other = found
            words = (
                f"{self.name(place)} holds the record {offset:,} of epoch {epoch}, below its high "
                f"watermark {high:,}; the leader of epoch {later} began at {began:,} without it "
                f"({self.name(other)})"
            )
            yield Violation(Kind.LEFT_OUT, place, offset, words, epoch, other)

    def first_left_out(
        self, place: int, suspects: Sequence[tuple[EpochStart, int]]
    ) -> tuple[int, int, EpochStart, int] | None:
        """The first record, with its epoch, that one of these later epochs began without, and that.

        The log is read again: between two batches, or in one, compaction may have left nothing.
        """
        high = self.watermark(place)
        since = min((began for (_, began), _ in suspects), default=high)
        records = records_held(self.replicas[place], since) if since < high else iter(())
        for offset, epoch in records:
            if offset >= high:
                break
            against = [
                (entry, other)
                for entry, other in suspects
                if 0 <= epoch < entry[0] and entry[1] <= offset
            ]
            if against:
                return offset, epoch, *min(against)
        return None

    def epochs_of(self, place: int) -> tuple[EpochStart, ...]:
        """Epochs and where they began, as a replica's cache and its batches say."""
        stretches = self.contents[place].stretches
        said = tuple((each.epoch, each.first) for each in stretches)
        return (self.replicas[place].epochs or ()) + said

    def differing(self) -> Iterator[Violation]:
        for pair, kinds in self.comparison.differences.items():
            same = kinds.get(0)
            claims = max(pair, key=self.watermark)
            is_below = same is not None and same.offset < self.watermark(claims)
            if same is not None and (is_below or self.replicas[claims].is_of_quorum):
                other = pair[0] if claims == pair[1] else pair[1]
                below = (
                    f", below the high watermark {self.watermark(claims):,} of {self.name(claims)}"
                )
                words = (
                    f"{self.name(claims)} and {self.name(other)} hold different records at "
                    f"{same.offset:,}, both of epoch {same.epochs[0]}{below if is_below else ''}"
                )
                yield Violation(
                    Kind.DIFFERS, claims, same.offset, words, same.epochs[0], other
                )  # fmt: skip

    def notices(self) -> Iterator[str]:
        yield from self.differences_above()
        for place, (replica, log) in enumerate(zip(self.replicas, self.contents, strict=True)):
            name = self.name(place)
            for words in self.of_log(place, replica, log):
                yield f"{name}: {words}"
            for words in cache_contradictions(replica.epochs, log):
                yield f"{name}: {words}"

    def of_log(self, place: int, replica: Replica, log: Contents) -> Iterator[str]:
        high = self.watermark(place)
        if replica.high_watermark is None and not replica.is_of_quorum:
            yield "no high watermark is checkpointed for it"
        elif log.end < high and replica.is_of_quorum:
            yield f"the log ends at {log.end:,}, before its snapshot, with which it begins again"
        elif log.end < high and replica.set_aside:
            yield (
                f"the log ends at {log.end:,}, below the high watermark {high:,}, which may be of "
                f"the copy that was set aside ({replica.set_aside[0]})"
            )
        highest = max(map(self.watermark, range(len(self.replicas))))
        if high <= log.end < highest:
            yield (
                f"behind, as a replica that is out of sync may be: the log ends at {log.end:,}, "
                f"the highest high watermark is {highest:,}"
            )
        for each in log.damage[:_SHOWN]:
            flushed = (replica.recovery_point or 0) > each.offset
            expected = "it had been flushed" if flushed else "a crash may leave this"
            yield f"{each}; {expected}"
        if len(log.damage) > _SHOWN:
            yield f"{len(log.damage) - _SHOWN:,} more places that cannot be read"
        if log.zeros is not None:
            lost = zeros_lost(replica, log)
            yield f"{log.zeros}; {lost or 'log.preallocate leaves this where a broker crashed'}"
        elif (replica.recovery_point or 0) > log.end:
            yield (
                f"flushed up to {replica.recovery_point:,}, beyond the log's end {log.end:,}: it "
                "was truncated just before a crash, or lost what was flushed"
            )
        for offset, before, after in log.backwards[:_SHOWN]:
            yield f"the epoch goes back from {before} to {after} at offset {offset:,}"
        hole = self.comparison.holes.get(place)
        if hole is not None and (self.is_compacted or hole.offset >= high):
            why = "compacted" if self.is_compacted else "above its high watermark"
            yield (
                f"{hole.count:,} offsets from {hole.offset:,} on are held by others only ({why})"
            )
        for unfinished in log.unfinished[:1]:
            yield f"compaction was interrupted: {unfinished} is left"

    def differences_above(self) -> Iterator[str]:
        for pair in combinations(range(len(self.replicas)), 2):
            difference = self.comparison.first_difference(pair)
            if difference is None:
                continue
            both = f"{self.name(pair[0])} and {self.name(pair[1])} differ at {difference.offset:,}"
            if difference.epochs[0] == difference.epochs[1]:
                of_quorum = self.replicas[pair[0]].is_of_quorum
                if difference.offset >= max(map(self.watermark, pair)) and not of_quorum:
                    yield f"{both}, above their high watermarks, though both are of one epoch"
                continue
            older = min(pair, key=dict(zip(pair, difference.epochs, strict=True)).__getitem__)
            if difference.offset >= self.watermark(older):
                yield (
                    f"{both}, above the high watermark of {self.name(older)}, which would "
                    "truncate there"
                )


def zeros_lost(replica: Replica, log: Contents) -> str:
    """In words, why zeros at a log's end are not what preallocation left; empty if they may be."""
    if log.zeros is not None and (replica.recovery_point or 0) > log.end:
        return f"records up to {(replica.recovery_point or 0) - 1:,} had been flushed there"
    if log.zeros is not None and replica.clean_shutdown:
        return "a broker that shuts down cleanly leaves none"
    return ""


_SHOWN = 3


def _more(count: int, what: str) -> str:
    return f" (and {counted(count, what)})" if count > 0 else ""
