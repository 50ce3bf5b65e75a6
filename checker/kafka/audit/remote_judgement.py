"""What the segments of a remote store mean beside the replicas of their partition.

Brokers copy only what is committed, and read a segment only if the metadata topic says that its
copy is finished, and if the leader epochs of the leader reach it: at its offsets they name its
epochs. So a segment that *counts* is like a replica whose high watermark is its end. Where no
metadata of the partition is at hand, one counts that has all its files.

- LEFT_OUT, DIFFERS, UNREADABLE are those of `judgement`, with segments in place of replicas.
- INCOMPLETE: the metadata says finished, and a file is not there, or its log ends before that.
- UNCOVERED: from the log start to the start of a replica's local log are offsets that no segment
  has that counts, that some replica's leader epochs reach, and to which reads are led.
- FORGOTTEN: the leader epochs of one replica do not reach segments that those of another reach,
  below its local log. As the leader it cannot read them, and deletes those whose epochs are all
  below its first one (finding 0028).

The log start is the highest that a broker has checkpointed: it only moves on. Brokers checkpoint it
once a minute, so that what retention moved just before a broker was killed looks UNCOVERED.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from checker.core.amounts import counted
from checker.kafka.audit.checkpoints import read_epochs
from checker.kafka.audit.comparison import compare_logs
from checker.kafka.audit.epochs import cache_contradictions, has_older
from checker.kafka.audit.judgement import Judgement, Kind, Violation, in_order
from checker.kafka.audit.remote import Remote, RemoteRow, RemoteSegment, RemoteStore
from checker.kafka.audit.remote_case import Case, deletions, epochs_in_words, listed, offsets
from checker.kafka.audit.remote_metadata import RemoteMetadata, State
from checker.kafka.audit.segments import (
    Batch,
    Contents,
    Damage,
    Segment,
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
    key = store.key_of(judgement.group)
    segments, known = store.partitions.get(key, []), metadata.partitions.get(key, {})
    if (key not in store.partitions and not known) or key in metadata.deleted:
        return judgement
    for segment in segments:
        segment.read()
    segments = sorted(segments, key=lambda each: (each.base, each.contents.end))
    case = _Judged(judgement, segments, known)
    violations = in_order((*judgement.violations, *case.violations()))
    notices = (*judgement.notices, *case.notices())
    return replace(judgement, violations=violations, notices=notices, remote=case.told())


class _Judged(Case):
    def violations(self) -> Iterator[Violation]:
        yield from self.incomplete()
        yield from self.unreadable()
        yield from self.left_out()
        yield from self.differing()
        yield from self.uncovered()
        yield from self.forgotten()

    def incomplete(self) -> Iterator[Violation]:
        by_identity = {each.identity: each for each in self.segments}
        for identity, known in self.known.items():
            if known.state is not State.COPY_FINISHED or known.until <= self.log_start:
                continue
            segment = by_identity.get(identity) or RemoteSegment(identity, known.base)
            lacks, end = segment.lacks, segment.contents.end
            if lacks:
                are = "are" if len(lacks) > 1 else "is"
                words = f"its {listed([_FILES[each] for each in lacks])} {are} not there"
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
        starts = self.epoch_starts()
        for segment in self.read_by_brokers:
            stretches = self.stretches(segment)
            against = [
                (later, *start)
                for later, start in starts.items()
                if has_older(stretches, (later, start[0]))
            ]
            if against:
                later, began, name = min(against)
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
            other = self.name(first) if first < len(replicas) else "another one"
            words = (
                f"{self.named(segment)} and {other} hold different records at {same.offset:,}, "
                f"both of epoch {same.epochs[0]}"
            )
            yield Violation(
                Kind.DIFFERS, None, same.offset, words, same.epochs[0],
                first if first < len(replicas) else None, segment.identity,
            )  # fmt: skip

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
            held = "nor does a local log here"
            if holders:
                held = f"the local log of {holders[0]} does"
            begin = "begins" if len(places) == 1 else "begin"
            names = listed([self.name(place) for place in places])
            words = (
                f"the log starts at {self.log_start:,}, and {names} {begin} at "
                f"{logs[places[0]].start:,}: no remote segment that a leader reads holds "
                f"{offsets(first, until)}; {held}{self.gone(first, until)}"
            )
            yield Violation(Kind.UNCOVERED, places[0], first, words)

    def gaps(self, local: int) -> Iterator[tuple[int, int]]:
        """Offsets from the log start to a local log's start that the store does not cover."""
        due = self.log_start
        for base, until in sorted(
            part
            for s in self.read_by_brokers
            if self.reached_by_any(s)
            for part in self.readable(s)
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
            return f"; {deletions(deleted)}"
        for segment in self.read_by_brokers:
            if any(begins < until and first < ends for begins, ends in self.hidden(segment)):
                return f"; {self.named(segment)} has them, and is hidden (finding 0030)"
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
            yield f"without its {listed([_FILES[each] for each in segment.lacks])}"
        for first, until in self.hidden(segment) if read else ():
            epoch = next(s.epoch for s in self.stretches(segment) if first < s.until)
            yield (
                f"reads of {offsets(first, until)} are led {self.hides(epoch, first)}, and find "
                "nothing: a shorter copy ended later (finding 0030)"
            )
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
                f"its batches are of {epochs_in_words([s.epoch for s in held])}, by the metadata "
                f"of {epochs_in_words([s.epoch for s in said])}"
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
                _state_name(self.state(each)),
                self.counts(each), each.lacks,
            )
            for each in self.segments
        )  # fmt: skip
        read = self.read_by_brokers
        words = counted(len(read), "segment") + (f", {self.span(read)}" if read else "")
        return Remote(
            rows, self.log_start, words, deletions(gone) if gone else "",
            has_metadata=bool(self.known), unread=sum(bool(_not_read(s)) for s in self.segments),
        )  # fmt: skip


def _violation(
    kind: Kind, segment: RemoteSegment, offset: int, words: str, epoch: int | None = None
) -> Violation:
    return Violation(kind, None, offset, words, epoch, segment=segment.identity)


def _state_name(state: State | None) -> str | None:
    return None if state is None else state.name.lower()


def _not_read(segment: RemoteSegment) -> str:
    if segment.error:
        return segment.error
    log = segment.contents
    return str(next(iter(log.damage), log.zeros or ""))


def _path(segment: RemoteSegment) -> str:
    return str(segment.files[".log"])


def _read_lane(lane: Sequence[RemoteSegment], contents: Contents) -> Iterator[Batch | Damage]:
    return read_segments([Segment(s.files[".log"], s.base) for s in lane], None, contents)
