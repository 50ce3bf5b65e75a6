"""Logs of one partition side by side, in one pass: where two differ, and what one of them lacks.

Followers write the batches that they fetch as they are, so replicas agree byte for byte, and most
batches are compared as a whole. Where they are not the same, the records in them are compared one
offset at a time: compaction rewrites batches, each replica for itself, and leaves records as they
were. At any time a batch of each log is in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations

from kafka.errors import UnsupportedCodecError
from kafka.record.default_records import DefaultRecordBatch

from checker.distribution import how_to_install
from checker.kafka.audit.directories import Replica
from checker.kafka.audit.segments import Batch, Contents, Damage, read_log
from model.language.errors import UsageError

Pair = tuple[int, int]
"""Two replicas by their places in the group, the lesser first."""

Reader = Callable[[Contents], Iterator[Batch | Damage]]
"""Reads a log in order, and fills in what it holds."""


@dataclass(frozen=True, slots=True)
class Difference:
    """An offset at which two logs have different records, and the leader epochs of the two."""

    offset: int
    epochs: tuple[int, int]


@dataclass
class Hole:
    """Offsets within a log at which it has no record and another has: the first, and how many."""

    offset: int
    held_by: int
    count: int = 0


@dataclass
class Comparison:
    """What comparing the logs of a group showed.

    `differences` has, for each pair, the first one of each kind: the first replica's epoch is
    less than (-1), as (0), or greater than (1) the second's. A batch without an epoch counts as 0.
    `alike` has for each pair at how many offsets before the first difference both were read and are
    the same.
    """

    contents: tuple[Contents, ...]
    differences: dict[Pair, dict[int, Difference]] = field(default_factory=dict)
    holes: dict[int, Hole] = field(default_factory=dict)
    alike: dict[Pair, int] = field(default_factory=dict)

    def note_alike(self, pair: Pair, count: int) -> None:
        """That two logs have the same at so many further offsets."""
        if pair not in self.differences:
            self.alike[pair] = self.alike.get(pair, 0) + count

    def first_difference(self, pair: Pair) -> Difference | None:
        """The first offset at which two logs differ."""
        found = self.differences.get(pair, {}).values()
        return min(found, key=lambda each: each.offset, default=None)


def compare(replicas: Sequence[Replica]) -> Comparison:
    """Read the logs of replicas to their ends. Raises `UsageError` for what cannot be read."""
    return compare_logs(
        [(str(each.folder), partial(read_log, each.folder, each.log_start)) for each in replicas]
    )


def compare_logs(logs: Sequence[tuple[str, Reader]]) -> Comparison:
    """The same of any logs, each with its name for messages."""
    cursors = [_Cursor(place, name, read) for place, (name, read) in enumerate(logs)]
    found = Comparison(tuple(cursor.contents for cursor in cursors))
    live = [cursor for cursor in cursors if cursor.batch is not None]
    while live:
        low = min(cursor.position for cursor in live)
        here = [cursor for cursor in live if cursor.position == low]
        if until := _same_batch(here, live):
            for one, other in combinations(here, 2):
                found.note_alike((one.place, other.place), until - low)
            _note_holes(found, cursors, here, low, until)
            for cursor in here:
                cursor.advance()
        elif not any([cursor.open() for cursor in here]):
            _compare_records(found, here)
            _note_holes(found, cursors, here, low, low + 1)
            for cursor in here:
                cursor.step()
        live = [cursor for cursor in live if cursor.batch is not None]
    return found


def records_held(replica: Replica, since: int) -> Iterator[tuple[int, int]]:
    """The offsets of the records that a log has from `since` on, with their leader epochs."""
    contents = Contents()
    for item in read_log(replica.folder, replica.log_start, contents):
        if isinstance(item, Batch) and item.until > since:
            for offset, _ in _records(item, str(replica.folder)):
                if offset >= max(since, contents.start):
                    yield offset, item.epoch


class _Cursor:
    """A place in one log: at the beginning of a batch, or in one that was opened, at a record."""

    def __init__(self, place: int, name: str, read: Reader) -> None:
        self.place = place
        self.contents = Contents()
        self.batch: Batch | None = None
        self._damaged: int | None = None  # where unreadable bytes begin that lie before the batch
        self._name = name
        self._items = read(self.contents)
        self._records: list[tuple[int, object]] = []
        self.is_open = False
        self.advance()

    @property
    def position(self) -> int:
        """The offset of the next record, as far as is known."""
        assert self.batch is not None
        return self._records[-1][0] if self.is_open else max(self.batch.base, self.contents.start)

    @property
    def record(self) -> object:
        """The record at the position, in a batch that is open."""
        return self._records[-1][1]

    def advance(self) -> None:
        """Go to the next batch, or to the end, where there is none."""
        self.is_open, self._damaged = False, None
        for item in self._items:
            if isinstance(item, Batch):
                self.batch = item
                return
            self._damaged = item.offset if self._damaged is None else self._damaged
        self.batch = None

    def open(self) -> bool:
        """Look into the batch; whether that moved on, since it begins without a record."""
        if self.is_open:
            return False
        assert self.batch is not None
        before, start = self.position, self.contents.start
        records = _records(self.batch, self._name)
        self._records = [record for record in reversed(records) if record[0] >= start]
        self.is_open = True
        if not self._records:
            self.advance()
            return True
        return self.position > before

    def step(self) -> None:
        """Go to the next record."""
        self._records.pop()
        if not self._records:
            self.advance()

    def lacks(self, low: int, until: int) -> int:
        """How many of these offsets lie within the log though it has no record there.

        Where bytes cannot be read the log may have had them: that is told of the bytes.
        """
        end = self.contents.end if self.batch is None else until
        end = end if self._damaged is None else min(end, self._damaged)
        return max(0, min(end, until) - max(self.contents.start, low))


def _same_batch(here: Sequence[_Cursor], live: Sequence[_Cursor]) -> int:
    """Where the batch ends that all cursors here are at, if no other log begins one before."""
    first = here[0].batch
    assert first is not None
    for cursor in live:
        if cursor.is_open:
            return 0
        if cursor in here:
            if cursor.batch is None or cursor.batch.data != first.data:
                return 0
        elif cursor.position < first.until:
            return 0
    return first.until


def _records(batch: Batch, where: str) -> list[tuple[int, object]]:
    """Offsets with all that must be the same at them. What cannot be decoded is taken as bytes."""
    parsed = DefaultRecordBatch(batch.data)
    common = (
        batch.epoch, parsed.is_control_batch, parsed.is_transactional, parsed.producer_id,
        parsed.producer_epoch,
    )  # fmt: skip
    first = parsed.base_sequence - batch.base if parsed.has_sequence else None
    try:
        found = list(parsed) if batch.records else []
    except UnsupportedCodecError as error:
        raise UsageError(f"{where}: {error}: {how_to_install('audit')}") from None
    except (
        Exception
    ):  # its CRC is right, so it was written like this; decompressors have own errors
        return [(offset, (batch.epoch, batch.data)) for offset in range(batch.base, batch.until)]
    return [
        (
            each.offset,
            (
                *common, None if first is None else first + each.offset, each.timestamp,
                each.key, each.value, tuple(each.headers),
            ),
        )
        for each in found
    ]  # fmt: skip


def _compare_records(found: Comparison, here: Sequence[_Cursor]) -> None:
    for one, other in combinations(here, 2):
        pair = one.place, other.place
        if one.record == other.record:
            found.note_alike(pair, 1)
            continue
        assert one.batch is not None and other.batch is not None
        epochs = (one.batch.epoch, other.batch.epoch)
        kind = 0 if min(epochs) < 0 else (epochs[0] > epochs[1]) - (epochs[0] < epochs[1])
        kinds = found.differences.setdefault(pair, {})
        kinds.setdefault(kind, Difference(one.position, epochs))


def _note_holes(
    found: Comparison, cursors: Sequence[_Cursor], here: Sequence[_Cursor], low: int, until: int
) -> None:
    for cursor in cursors:
        if cursor not in here and (count := cursor.lacks(low, until)):
            hole = found.holes.setdefault(
                cursor.place, Hole(max(low, cursor.contents.start), here[0].place)
            )
            hole.count += count
