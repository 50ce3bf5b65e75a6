"""The record batches of one replica's log, one at a time, and where they cannot be read.

kafka-python reads headers and records and sums CRC-32C, in C with the library `crc32c`. It is kept
up with Kafka's releases, and is held to the header's layout by every broker that it talks to. How
batches lie in a file, what to do where that breaks, and what a crash leaves is ours to judge: its
`MemoryRecords` wants a whole log in memory and stops at the first bad byte.

The CRC does not cover the base offset, the length, the leader epoch and the version of the format.
Offsets that go back show the first, frames that break the second and the last; for the epoch there
are other replicas and the epoch cache.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO

from kafka.record.default_records import DefaultRecordBatch
from kafka.record.util import calc_crc32, calc_crc32c

from model.language.errors import UsageError

_SEGMENT = re.compile(r"([0-9]{20})\.log")
_UNFINISHED = re.compile(r"[0-9]{20}\..*(?:cleaned|swap)")
_HEADER: int = DefaultRecordBatch.HEADER_STRUCT.size
_FRAME: int = DefaultRecordBatch.AFTER_LEN_OFFSET
_MAGIC = _FRAME + 4
_BUFFER = 1 << 20


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch whose CRC is right: offsets `base` to `until` (exclusive), and all its bytes."""

    base: int
    until: int
    epoch: int
    records: int
    data: bytes


class Fault(StrEnum):
    """Why bytes of a log are not a batch."""

    TORN = "torn"  # the file ends before the batch does, or nothing readable is there
    CRC = "crc"  # the contents are not what was written
    ORDER = "order"  # its offsets lie where those of other batches are
    ZEROS = "zeros"  # only zeros follow in the last file, as `log.preallocate` leaves them


@dataclass(frozen=True, slots=True)
class Damage:
    """Bytes that are not a batch: in which file, where, and the offset that is due there.

    `until` is where the next batch begins, or the log ends: records up to there may be lost. It is
    known of what `Contents` has.
    """

    fault: Fault
    segment: str
    position: int
    offset: int
    until: int = field(default=0, compare=False)

    def __str__(self) -> str:
        words = {
            Fault.TORN: "no whole batch",
            Fault.CRC: "a batch whose CRC is wrong",
            Fault.ORDER: "a batch whose offsets are out of order",
            Fault.ZEROS: "nothing but zeros",
        }
        place = f"{self.segment}, byte {self.position:,}"
        return f"{words[self.fault]} at offset {self.offset:,} ({place})"


@dataclass(slots=True)
class Stretch:
    """Batches of one leader epoch on end, from an offset to where the last one ends (exclusive)."""

    epoch: int
    first: int
    until: int


@dataclass
class Contents:
    """What a log turned out to hold, complete once it was read to its end.

    `stretches` are what the batches say of leader epochs; `backwards` the offsets at which these
    go back, with the epoch before and there; `sparse` says that a batch has fewer records than
    offsets, which only compaction makes; `unfinished` names files that it left half done. `gap` are
    the first offsets, from and to (exclusive), between batches that follow each other in the file;
    `zeros` is where the last file has nothing else, which is no damage by itself.
    """

    start: int = 0
    end: int = 0
    segments: int = 0
    batches: int = 0
    records: int = 0
    size: int = 0
    stretches: list[Stretch] = field(default_factory=list)
    backwards: list[tuple[int, int, int]] = field(default_factory=list)
    sparse: bool = False
    damage: list[Damage] = field(default_factory=list)
    unfinished: list[str] = field(default_factory=list)
    gap: tuple[int, int] | None = None
    zeros: Damage | None = None


@dataclass(frozen=True)
class Segment:
    """A file of batches, and the offset at which it begins."""

    path: Path
    base: int


def read_log(folder: Path, log_start: int | None, contents: Contents) -> Iterator[Batch | Damage]:
    """The log in a folder from its start, in order, while `contents` is filled in.

    Reads a batch at a time and keeps one. Raises `UsageError` for a format before Kafka 0.11.
    """
    contents.unfinished = sorted(p.name for p in folder.iterdir() if _UNFINISHED.match(p.name))
    yield from read_segments(_segments(folder), log_start, contents)


def read_segments(
    segments: Sequence[Segment], log_start: int | None, contents: Contents
) -> Iterator[Batch | Damage]:
    """As `read_log`, of these files in the order of their offsets."""
    contents.segments = len(segments)
    first = segments[0].base if segments else 0
    contents.start = contents.end = max(first, log_start or 0)
    due, settled = first, 0  # how many damaged places are known to end where a batch begins
    for item in _in_order(_batches(segments), first):
        if isinstance(item, Damage) and item.fault is Fault.ZEROS:
            contents.zeros = item
            continue
        begin = item.offset if isinstance(item, Damage) else item.base
        if settled == len(contents.damage):
            _note_gap(contents, due, begin)
        if isinstance(item, Damage):
            contents.damage.append(item)
        else:
            settled = _settle(contents, settled, begin)
            due = item.until
            if item.until <= contents.start:
                continue
            _count(item, contents)
        yield item
    if segments:
        contents.end = max(contents.end, segments[-1].base)
        if settled == len(contents.damage):
            _note_gap(contents, due, contents.end)
    _settle(contents, settled, contents.end)


def read_file(path: Path) -> Iterator[Batch]:
    """The batches of one file, such as a snapshot, up to bytes that are none."""
    for item in _batches([Segment(path, 0)]):
        if isinstance(item, _Found):
            yield item.batch


def _note_gap(contents: Contents, due: int, begin: int) -> None:
    """Note that no batch has the offsets from `due` to `begin`, if there are any in the log."""
    due = max(due, contents.start)
    if due < begin and contents.gap is None:
        contents.gap = due, begin


def _settle(contents: Contents, settled: int, until: int) -> int:
    """Say of damaged places after the first `settled` ones where they end; how many there are."""
    for place in range(settled, len(contents.damage)):
        contents.damage[place] = replace(contents.damage[place], until=until)
    return len(contents.damage)


def _count(batch: Batch, contents: Contents) -> None:
    contents.batches += 1
    contents.records += batch.records
    contents.size += len(batch.data)
    contents.sparse = contents.sparse or batch.records < batch.until - batch.base
    contents.end = batch.until
    last = contents.stretches[-1] if contents.stretches else None
    if last is not None and batch.epoch == last.epoch:
        last.until = batch.until
        return
    if last is not None and batch.epoch < last.epoch:
        contents.backwards.append((batch.base, last.epoch, batch.epoch))
    first = max(batch.base, contents.start)
    contents.stretches.append(Stretch(batch.epoch, first, batch.until))


def _segments(folder: Path) -> list[Segment]:
    matches = ((path, _SEGMENT.fullmatch(path.name)) for path in folder.iterdir())
    return sorted(
        (Segment(path, int(match[1])) for path, match in matches if match),
        key=lambda segment: segment.base,
    )


@dataclass(frozen=True, slots=True)
class _Found:
    batch: Batch
    segment: str
    position: int


def _in_order(items: Iterable[_Found | Damage], start: int) -> Iterator[Batch | Damage]:
    """A batch whose offsets do not lie between those before and after it becomes damage.

    Of two that overlap, the one is wrong that does not fit what came before both: the first, if it
    left a gap.
    """
    due = start
    held: _Found | None = None
    for item in items:
        if isinstance(item, _Found) and held is not None:
            base = item.batch.base
            if base < held.batch.until and held.batch.base != due <= base:
                yield Damage(Fault.ORDER, held.segment, held.position, due)
                held = item
                continue
        if held is not None:
            yield held.batch
            due, held = held.batch.until, None
        if isinstance(item, Damage):
            yield replace(item, offset=max(due, item.offset))
        elif item.batch.base < due:
            yield Damage(Fault.ORDER, item.segment, item.position, due)
        else:
            held = item
    if held is not None:
        yield held.batch


def _batches(segments: Sequence[Segment]) -> Iterator[_Found | Damage]:
    for segment in segments:
        with segment.path.open("rb", buffering=_BUFFER) as file:
            yield from _batches_of(file, segment, segment is segments[-1])


def _batches_of(file: BinaryIO, segment: Segment, is_last: bool) -> Iterator[_Found | Damage]:
    """The frames of one file. After a frame that breaks nothing says where the next one begins.

    Kafka cuts off what it preallocated when it begins the next file: only the last may end in it.
    """
    name, size = segment.path.name, os.fstat(file.fileno()).st_size
    position, due = 0, segment.base
    while position < size:
        header = file.read(_HEADER)
        if not _is_frame(header, size - position):
            _refuse_old_format(file, header, segment.path)
            is_spare = is_last and _is_blank(file, header)
            yield Damage(Fault.ZEROS if is_spare else Fault.TORN, name, position, due)
            return
        parsed = DefaultRecordBatch(header)
        data = header + file.read(parsed.size_in_bytes - _HEADER)
        if calc_crc32c(memoryview(data)[DefaultRecordBatch.ATTRIBUTES_OFFSET :]) == parsed.crc:
            due = parsed.next_offset
            found = Batch(
                parsed.base_offset, due, parsed.leader_epoch, parsed.records_count, data
            )  # fmt: skip
            yield _Found(found, name, position)
        else:
            yield Damage(Fault.CRC, name, position, due)
        position += len(data)


def _is_frame(header: bytes, room: int) -> bool:
    if len(header) < _HEADER or header[_MAGIC] != 2:
        return False
    size: int = DefaultRecordBatch(header).size_in_bytes
    return _HEADER <= size <= room


def _is_blank(file: BinaryIO, header: bytes) -> bool:
    """Whether only zeros follow: what `log.preallocate` leaves of a file that was not closed."""
    return header == bytes(_HEADER) and not any(map(any, iter(lambda: file.read(_BUFFER), b"")))


def _refuse_old_format(file: BinaryIO, header: bytes, path: Path) -> None:
    """An older format is refused only if its own CRC is right: else it is a version that broke."""
    if header[_MAGIC : _MAGIC + 1] not in (b"\0", b"\1"):
        return
    where, end = file.tell(), _FRAME + int.from_bytes(header[8:_FRAME], "big")
    data = (header + file.read(max(0, end - len(header))))[:end]
    file.seek(where)
    if _MAGIC < end == len(data):
        crc = int.from_bytes(data[_FRAME:_MAGIC], "big")
        if calc_crc32(memoryview(data)[_MAGIC:]) == crc:
            raise UsageError(
                f"{path}: message format {header[_MAGIC]}: only format 2 is read, which brokers "
                "write since Kafka 0.11"
            )
