"""What the segments of a remote store mean beside the replicas of their partition.

Brokers copy only what is committed, and read a segment only if the metadata topic says that its
copy is finished, and if the leader epochs of the leader reach it: at its offsets they name its
epochs. So a segment that *counts* is like a replica whose high watermark is its end. Where no
metadata of the partition is at hand, one counts that has all its files.

- LEFT_OUT, DIFFERS, UNREADABLE are those of `judgement`, with segments in place of replicas.
- INCOMPLETE: the metadata says finished, and a file is not there, or its log ends before that.
- UNCOVERED: from the log start to the start of a replica's local log are offsets that no segment
  has that counts and that some replica's leader epochs reach.
- FORGOTTEN: the leader epochs of one replica do not reach segments that those of another reach,
  below its local log. As the leader it cannot read them, and deletes those whose epochs are all
  below its first one (finding 0028).

The log start is the highest that a broker has checkpointed: it only moves on. Brokers checkpoint it
once a minute, so that what retention moved just before a broker was killed looks UNCOVERED.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from checker.core.amounts import counted
from checker.kafka.audit.checkpoints import EpochStart, read_epochs
from checker.kafka.audit.comparison import compare_logs
from checker.kafka.audit.epochs import cache_contradictions, has_older
from checker.kafka.audit.judgement import Judgement, Kind, Remote, RemoteRow, Violation, in_order
from checker.kafka.audit.remote import RemoteSegment, RemoteStore
from checker.kafka.audit.remote_metadata import Known, RemoteMetadata, State
from checker.kafka.audit.segments import (
    Batch,
    Contents,
    Damage,
    Segment,
    Stretch,
    read_log,
    read_segments,
)
from model.language.errors import UsageError

_FILES = {
    ".log": "log", ".index": "offset index", ".timeindex": "time index",
    ".leader_epoch_checkpoint": "leader epochs", ".snapshot": "producer snapshot",
}  # fmt: skip


def judge_remote(judgement: Judgement, store: RemoteStore, metadata: RemoteMetadata) -> Judgement:
    """The judgement of a partition with its remote segments, if the store or metadata has any."""
    key = judgement.group.topic_id or "", judgement.group.partition
    segments, known = store.partitions.get(key, []), metadata.partitions.get(key, {})
    if (key not in store.partitions and not known) or key in metadata.deleted:
        return judgement
    for segment in segments:
        segment.read()
    case = _Case(judgement, segments, known)
    violations = in_order((*judgement.violations, *case.violations()))
    notices = (*judgement.notices, *case.notices())
    return replace(judgement, violations=violations, notices=notices, remote=case.told())


@dataclass(frozen=True)
class _Case:
    judgement: Judgement
    segments: Sequence[RemoteSegment]
    known: dict[str, Known]

    def violations(self) -> Iterator[Violation]:
        yield from self.incomplete()
        yield from self.unreadable()
        yield from self.left_out()
        yield from self.differing()
        yield from self.uncovered()
        yield from self.forgotten()

    # What a segment is

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
        ends = [*(offset for _, offset in known.epochs[1:]), known.until]
        pairs = zip(known.epochs, ends, strict=True)
        return [Stretch(epoch, first, until) for (epoch, first), until in pairs if first < until]

    def until(self, segment: RemoteSegment) -> int:
        stretches = self.stretches(segment)
        return stretches[-1].until if stretches else segment.base

    @property
    def log_start(self) -> int:
        """The highest log start that is checkpointed, or 0."""
        return max((each.log_start or 0 for each in self.judgement.group.replicas), default=0)

    @property
    def read_by_brokers(self) -> list[RemoteSegment]:
        """The segments that count, and of which something is at or above the log start."""
        return [
            each
            for each in self.segments
            if self.counts(each) and self.until(each) > self.log_start
        ]

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
        return f"{_offsets(first, until)}, {_epochs(epochs)}"

    def name(self, place: int) -> str:
        return self.judgement.group.replicas[place].name

    # What is violated

    def incomplete(self) -> Iterator[Violation]:
        by_identity = {each.identity: each for each in self.segments}
        for identity, known in self.known.items():
            if known.state is not State.COPY_FINISHED or known.until <= self.log_start:
                continue
            segment = by_identity.get(identity) or RemoteSegment(identity, known.base)
            lacks, end = segment.lacks, segment.contents.end
            if lacks:
                are = "are" if len(lacks) > 1 else "is"
                words = f"its {_and([_FILES[each] for each in lacks])} {are} not there"
            elif not segment.error and not segment.contents.damage and end != known.until:
                words = f"its log ends at {end:,}, not at {known.until:,}"
            else:
                continue
            words = f"by the metadata, the copy of {self.named(segment)} is finished; {words}"
            yield _violation(Kind.INCOMPLETE, segment, known.base, words)

    def unreadable(self) -> Iterator[Violation]:
        for segment in self.read_by_brokers:
            why = _not_read(segment)
            if why:
                at = segment.contents.damage[0].offset if segment.contents.damage else segment.base
                words = f"{self.named(segment)} cannot be read: {why}"
                yield _violation(Kind.UNREADABLE, segment, at, words)

    def left_out(self) -> Iterator[Violation]:
        """Committed records that a later epoch, on a disk or in the store, began without."""
        for segment in self.read_by_brokers:
            entries = [(entry, name) for entry, name in self.entries() if name != segment.identity]
            stretches = self.stretches(segment)
            against = [(entry, name) for entry, name in entries if has_older(stretches, entry)]
            if against:
                (later, began), name = min(against)
                old = next(s for s in stretches if s.epoch < later and began < s.until)
                at = max(old.first, began)
                words = (
                    f"{self.named(segment)} holds the record {at:,} of epoch {old.epoch}; the "
                    f"leader of epoch {later} began at {began:,} without it ({name})"
                )
                yield _violation(Kind.LEFT_OUT, segment, at, words, old.epoch)
        for place, segment, at, epoch in self.older_than_the_store():
            high = self.judgement.group.replicas[place].high_watermark or 0
            if at < high:
                words = (
                    f"{self.name(place)} holds the record {at:,} of epoch {epoch}, below its high "
                    f"watermark {high:,}; {self.named(segment)} has a later epoch there"
                )
                yield Violation(
                    Kind.LEFT_OUT, place, at, words, epoch, segment=segment.identity
                )  # fmt: skip

    def entries(self) -> Iterator[tuple[EpochStart, str]]:
        """Where leader epochs began, by replicas and by segments, and who says so."""
        logs = self.judgement.comparison.contents
        for replica, log in zip(self.judgement.group.replicas, logs, strict=True):
            for entry in replica.epochs or ():
                yield entry, replica.name
            for each in log.stretches:
                yield (each.epoch, each.first), replica.name
        for segment in self.read_by_brokers:
            for each in self.stretches(segment):
                yield (each.epoch, each.first), f"remote segment {segment.identity}"

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

    def differing(self) -> Iterator[Violation]:
        """Records of one epoch that are not the same, in the store and on a disk, or twice in it.

        Only segments that overlap a local log or each other are read once more, side by side.
        """
        replicas = self.judgement.group.replicas
        lanes = self.lanes()
        readers = [
            (str(each.folder), partial(read_log, each.folder, each.log_start)) for each in replicas
        ] + [(_path(lane[0]), partial(_read_lane, lane)) for lane in lanes]
        if not lanes:
            return
        for pair, kinds in compare_logs(readers).differences.items():
            same = kinds.get(0)
            if same is None or pair[1] < len(replicas):
                continue
            lane = lanes[pair[1] - len(replicas)]
            segment = max((s for s in lane if s.base <= same.offset), key=lambda each: each.base)
            first = pair[0]
            if first < len(replicas):
                other = self.name(first)
            else:
                other = "another one"
            words = (
                f"{self.named(segment)} and {other} hold different records at {same.offset:,}, "
                f"both of epoch {same.epochs[0]}"
            )
            yield Violation(
                Kind.DIFFERS, None, same.offset, words, same.epochs[0],
                first if first < len(replicas) else None, segment.identity,
            )  # fmt: skip

    def lanes(self) -> list[list[RemoteSegment]]:
        """Segments that overlap something, each in the first row in which it overlaps none."""
        logs = self.judgement.comparison.contents
        readable = [s for s in self.read_by_brokers if ".log" in s.files and not s.error]

        def overlaps(segment: RemoteSegment, start: int, end: int) -> bool:
            return segment.base < end and start < segment.contents.end

        lanes: list[list[RemoteSegment]] = []
        for segment in sorted(readable, key=lambda each: each.base):
            if not any(overlaps(segment, log.start, log.end) for log in logs) and not any(
                overlaps(segment, other.base, other.contents.end)
                for other in readable
                if other is not segment
            ):
                continue
            free = next((x for x in lanes if x[-1].contents.end <= segment.base), None)
            if free is None:
                lanes.append([segment])
            else:
                free.append(segment)
        return lanes

    def uncovered(self) -> Iterator[Violation]:
        """Of each range that is not covered, one violation, for all replicas whose it is."""
        gaps: dict[tuple[int, int], list[int]] = {}
        logs = self.judgement.comparison.contents
        for place, log in enumerate(logs):
            for gap in self.gaps(log.start):
                gaps.setdefault(gap, []).append(place)
        for (first, until), places in sorted(gaps.items()):
            holders = [
                self.name(place)
                for place, log in enumerate(logs)
                if log.start <= first and until <= log.end
            ]
            held = (
                f"{_and(holders)} {'has' if len(holders) == 1 else 'have'} them"
                if holders
                else ("nor do local logs here hold them")
            )
            begin = "begins" if len(places) == 1 else "begin"
            words = (
                f"the log starts at {self.log_start:,}, and {_and([self.name(p) for p in places])} "
                f"{begin} at {logs[places[0]].start:,}: no remote segment that a leader reads holds "
                f"{_offsets(first, until)}; {held}{self.gone(first, until)}"
            )
            yield Violation(Kind.UNCOVERED, places[0], first, words)

    def gaps(self, local: int) -> Iterator[tuple[int, int]]:
        """Offsets from the log start to a local log's start that the store does not cover."""
        due = self.log_start
        for base, until in sorted(
            part for s in self.read_by_brokers if self.reached_by_any(s) for part in _parts(s)
        ):
            if due < min(base, local):
                yield due, min(base, local)
            due = max(due, until)
        if due < local:
            yield due, local

    def gone(self, first: int, until: int) -> str:
        """In words, when segments with these offsets were deleted, or why they are not read."""
        of = [each for each in self.known.values() if each.base < until and first < each.until]
        deleted = [each for each in of if each.state >= State.DELETE_STARTED]
        if deleted:
            return f"; {_deleted(deleted)}"
        lost = [s for s in self.read_by_brokers if s.base < until and first < self.until(s)]
        return "; no replica's leader epochs reach those that have them" if lost else ""

    def forgotten(self) -> Iterator[Violation]:
        for place, replica in enumerate(self.judgement.group.replicas):
            log = self.judgement.comparison.contents[place]
            missed = [
                each
                for each in self.read_by_brokers
                if replica.epochs is not None
                and self.until(each) <= log.start
                and not self.reached(each, replica.epochs)
                and self.reached_by_any(each)
            ]
            if not missed:
                continue
            has = (
                f"begin with epoch {replica.epochs[0][0]} at {replica.epochs[0][1]:,}"
                if replica.epochs
                else "are none"
            )
            highest = max(s.epoch for each in missed for s in self.stretches(each))
            deletes = replica.epochs and highest < replica.epochs[0][0]
            then = "deletes them" if deletes else "cannot read them"
            words = (
                f"the leader epochs of {replica.name} {has}, and do not reach "
                f"{counted(len(missed), 'remote segment')} ({self.span(missed)}): as the leader "
                f"it {then}"
            )
            yield Violation(
                Kind.FORGOTTEN, place, missed[0].base, words, segment=missed[0].identity
            )

    # What is noticed

    def notices(self) -> Iterator[str]:
        for segment in self.segments:
            for words in self.of_segment(segment):
                yield f"{self.named(segment)}: {words}"
        for place, segment, at, epoch in self.older_than_the_store():
            if at >= (self.judgement.group.replicas[place].high_watermark or 0):
                yield (
                    f"{self.name(place)} has epoch {epoch} at {at:,}, above its high watermark, "
                    f"where {self.named(segment)} has a later one: it would truncate there"
                )

    def of_segment(self, segment: RemoteSegment) -> Iterator[str]:
        state, read = self.state(segment), segment in self.read_by_brokers
        if self.known and state is None:
            yield "no metadata tells of it, so that no broker reads it"
        elif state is State.COPY_STARTED:
            yield "its copy is not finished, so that no broker reads it"
        elif state in (State.DELETE_STARTED, State.DELETE_FINISHED):
            yield "its deletion has begun, and files are left"
        elif not self.known and segment.lacks:
            yield f"without its {_and([_FILES[each] for each in segment.lacks])}"
        if read and not self.reached_by_any(segment):
            yield "the leader epochs of no replica reach it, so that no leader reads it"
        if not read and (why := _not_read(segment)):
            yield f"cannot be read: {why}"
        yield from self.of_epochs(segment)

    def of_epochs(self, segment: RemoteSegment) -> Iterator[str]:
        known, held = self.known.get(segment.identity), segment.contents.stretches
        said = self.stretches(segment)
        if known is not None and held and [s.epoch for s in held] != [s.epoch for s in said]:
            yield (
                f"its batches are of {_epochs([s.epoch for s in held])}, by the metadata of "
                f"{_epochs([s.epoch for s in said])}"
            )
        try:
            file = segment.files.get(".leader_epoch_checkpoint")
            cache = None if file is None else read_epochs(file)
        except (UsageError, OSError) as error:
            yield f"its leader epochs cannot be read: {error}"
            return
        if cache is not None:
            yield from cache_contradictions(cache, segment.contents)

    def told(self) -> Remote:
        """What is said of the store, whatever is found."""
        gone = [each for each in self.known.values() if each.state >= State.DELETE_STARTED]
        rows = tuple(
            RemoteRow(
                each.identity, each.base, self.until(each),
                tuple(s.epoch for s in self.stretches(each)),
                None if self.state(each) is None else str(self.state(each).name).lower(),
                self.counts(each), each.lacks,
            )
            for each in self.segments
        )  # fmt: skip
        read = self.read_by_brokers
        words = counted(len(read), "segment") + (f", {self.span(read)}" if read else "")
        return Remote(
            rows, self.log_start, words, _deleted(gone) if gone else "",
            has_metadata=bool(self.known), unread=sum(bool(_not_read(s)) for s in self.segments),
        )  # fmt: skip


def _violation(
    kind: Kind, segment: RemoteSegment, offset: int, words: str, epoch: int | None = None
) -> Violation:
    return Violation(kind, None, offset, words, epoch, segment=segment.identity)


def _not_read(segment: RemoteSegment) -> str:
    if segment.error:
        return segment.error
    log = segment.contents
    return str(next(iter(log.damage), log.zeros or ""))


def _parts(segment: RemoteSegment) -> list[tuple[int, int]]:
    """Offsets that a segment has, but for the first that no batch has; compaction explains none."""
    log = segment.contents
    if log.gap is None or log.sparse:
        return [(segment.base, log.end)]
    return [(segment.base, log.gap[0]), (log.gap[1], log.end)]


def _path(segment: RemoteSegment) -> str:
    return str(segment.files[".log"])


def _read_lane(lane: Sequence[RemoteSegment], contents: Contents) -> Iterator[Batch | Damage]:
    return read_segments([Segment(s.files[".log"], s.base) for s in lane], None, contents)


def _deleted(segments: Sequence[Known]) -> str:
    """How many were deleted, by whom, and how old their records were."""
    first, until = min(s.base for s in segments), max(s.until for s in segments)
    brokers = _and([f"broker {each}" for each in sorted({s.broker for s in segments})])
    ages = min((s.time - s.youngest) / 1000 for s in segments)
    return (
        f"{brokers} deleted {counted(len(segments), 'segment')} ({_offsets(first, until)}), the "
        f"first {_age(ages)} after its last record"
    )


def _age(seconds: float) -> str:
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= 2 * size:
            return counted(int(seconds // size), unit)
    return counted(int(seconds), "second")


def _offsets(first: int, until: int) -> str:
    return f"{first:,} to {until - 1:,}" if until - first > 1 else f"offset {first:,}"


def _epochs(epochs: Sequence[int]) -> str:
    shown = ", ".join(map(str, epochs[:5])) + (", ..." if len(epochs) > 5 else "")
    return f"epoch{'s' if len(epochs) > 1 else ''} {shown}" if epochs else "no epoch"


def _and(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
