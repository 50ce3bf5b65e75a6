"""A search beyond memory: breadth first, with its states on disk and duplicates found late.

Memory holds the fingerprints of what was found last, exactly; what it has not is taken for new and
written to disk. When a level ends, or memory is full, all that was found since the last time is
compared with the runs that memory has forgotten. What stands in one of them is left out: it was
counted, judged and expanded when it was found first. So results are those of a search in memory,
state by state, and so is the order of states.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from checker.core.beyond.late import among, late, leave_out
from checker.core.beyond.level_files import LINKS, Blocks, LevelFiles, LevelLineage
from checker.core.beyond.runs import Run, read_run
from checker.core.beyond.writer import Writer
from checker.core.engines.layout import Words
from checker.core.search.explore import MIN_THREADED, Expansion, Explorer
from checker.core.search.findings import Findings
from checker.core.search.fresh import counted
from checker.core.search.limits import Limits, Progress, Stop, memory_bytes, memory_words
from checker.core.search.question import Options
from checker.core.search.table_kernels import PART_BITS, gathered, spread
from checker.core.search.visited_set import PARTS, Batch, VisitedSet
from checker.core.stores.answers import conclude, findings_of, levels_needed
from checker.core.stores.store import Level, LevelFile, Store
from checker.core.verdict import Exploration
from model.language.errors import UsageError
from model.language.protocol import Model
from properties import Property

STATES = "states"
_FULL = (errno.ENOSPC, errno.EDQUOT)
_BESIDE = 120_000_000  # bytes that a search needs besides what `Room` shares out
_LEAST = 40_000_000  # bytes to share out, below which it is not worth while
_NUMBER = 24  # bytes of memory for a number while it waits, is sorted and is written
_MOST_NUMBERS = 1 << 26
_LATE = 26  # bytes of memory for a duplicate while it is looked for


@dataclass(frozen=True)
class Room:
    """What memory may hold: states in the table, numbers of a run, duplicates, batches to write."""

    states: int
    run: int
    late: int
    waiting: int

    @classmethod
    def of(cls, memory: int, held: int) -> Room:
        """Room for a search that may take so much memory in all, of which so much is held."""
        left = memory - held - _BESIDE
        if left < _LEAST:
            least = memory_words(held + _BESIDE + _LEAST)
            raise UsageError(
                f"--max-memory {memory_words(memory)} is too little to search from disk: give "
                f"{least} or more"
            )
        return cls(
            VisitedSet.room_in(left * 55 // 100),
            min(left // 5 // _NUMBER, _MOST_NUMBERS),
            min(left // 10 // _LATE, _MOST_NUMBERS // 2),
            min(max(left // 20 >> 22, 4), 32),
        )


class BeyondMemory(Explorer):
    """A search that keeps its states in `store`, and begins with the levels that are there.

    `limits.memory` says what it may hold, `max_disk` how many bytes it may write.
    """

    _lineage: LevelLineage  # type: ignore[assignment]  # as Lineage, by files

    def __init__(
        self,
        store: Store,
        model: Model,
        properties: Sequence[Property],
        limits: Limits,
        options: Options | None = None,
        on_progress: Callable[[Progress], None] | None = None,
        *,
        max_disk: int | None = None,
        room: Room | None = None,
    ) -> None:
        unlimited = replace(limits, memory=None)
        super().__init__(model, properties, unlimited, options, on_progress)
        if self.options.exact:
            raise UsageError("--spill keeps fingerprints on disk: leave out --exact")
        if not store.storage.is_local:
            raise UsageError(f"--spill needs a directory of this machine, not {store.location}")
        self.store = store
        self._root = Path(store.storage.root)
        self._most = limits.memory
        self._room = room
        self._max_disk = max_disk
        self._lineage = LevelLineage()
        self._blocks = Blocks()
        self._conveyor = self._expanding(self._blocks.take)
        self._runs: list[Run] = []
        self._held_from = 0  # runs from this one on are in memory
        self._segment = 0  # the block of the level with which what is unsettled begins
        self._unsettled = 0
        self._written = 0

    def run(self, until: Callable[[Findings], bool] = lambda _: False) -> Exploration:
        """As `Explorer.run`; a stopped search loses no more than the level that it was in."""
        with self.store.locked():
            room = self._room = self._room or Room.of(self._most or 0, memory_bytes())
            self._writer = Writer(room.run, room.waiting)
            self._threads = ThreadPoolExecutor(self.options.workers)
            try:
                result = super().run(until)
            finally:
                self._threads.shutdown(cancel_futures=True)
                self._writer.close()
                self._clean()
            with suppress(UsageError):  # the disk may be full
                conclude(self.store, result)
        return result

    # --- where it begins ---------------------------------------------------------------------

    def _begin(self) -> None:
        self._clean()
        levels = levels_needed(self.store.levels, self.question)
        self._earlier_seconds = levels[-1].seconds if levels else 0.0
        self._forget(0)
        if levels:
            self._go_on(levels)
            return
        words = self._canonical(self.engine.layout.pack([self._start]))
        self._visited.insert(words)
        try:
            self._open_level()
            self._writer.put(words, np.zeros(1, np.int64), np.zeros(1, np.uint16))
            self._kept = 1
            self._watch.states(words, 0, lambda _: (-1, -1))
            self._settle()
            self._seal_level()
        except Stop as stop:
            raise UsageError(str(stop)) from None

    def _go_on(self, levels: Sequence[Level]) -> None:
        self.findings = findings_of(levels, len(self.model.instances))
        self._watch.go_on_from(self.findings)
        for level in levels:
            if level.size:
                self._lineage.levels.append(self._files(level.depth, read=True))
                names = sorted(f.name for f in level.files if f.name.startswith("run-"))
                place = self._root / Store.directory(level.depth)
                self._runs += [read_run(place / name) for name in names]
        self._kept = sum(self.findings.levels)
        self._written = sum(file.bytes for level in levels for file in level.files)
        last = self._lineage.levels[-1]
        if self.findings.frontier and len(levels) == len(self.store.levels):
            self._written += last.states_bytes
        if not self.question.is_answered(self.findings):
            last.check_states()
            self._make_room(last.count)

    def _files(self, depth: int, read: bool = False) -> LevelFiles:
        place, states = self._root / Store.directory(depth), self._root / STATES / str(depth)
        make = LevelFiles.read if read else LevelFiles
        return make(place, states, self.engine.layout.words)

    def _clean(self) -> None:
        """Remove what no whole level needs."""
        self.store.clean()
        last = str(self.store.levels[-1].depth) if self.store.levels else ""
        for path in (self._root / STATES).glob("*"):
            if path.name != last:
                path.unlink(missing_ok=True)

    # --- one level ---------------------------------------------------------------------------

    def _level(self) -> None:
        """Expand every state of a level; their successors are the next level."""
        frontier = self.findings.frontier
        self._blocks.begin(self._lineage.levels[-1])
        self._open_level()
        expanded = 0
        if frontier >= MIN_THREADED:
            self._have_help()
        assert self._room is not None
        while expanded < frontier:
            expanded = self._batch(expanded)
            if self._visited.count > self._room.states:
                self._blocks.pause()
                while expanded < self._blocks.given:  # before anything is forgotten
                    expanded = self._batch(expanded)
                self._settle()
                self._forget(self._room.states // 2)
                self._blocks.pause(False)
        self._settle()
        self._seal_level()

    def _batch(self, expanded: int) -> int:
        """Take the next batch of a level of which so many states are expanded; how many are now."""
        self._check_limits()
        expansion = self._next(expanded)
        words = self._take(expansion, expanded)
        with self._explained():
            self._writer.put(words, *self._lineage.given)
        self._unsettled += words.shape[1]
        expanded += expansion.words.shape[1]
        self._report(expanded, self.findings.frontier)
        return expanded

    def _expanded(self, given: Callable[[], Words]) -> Expansion:
        return super()._expanded([given()])

    def _open_level(self) -> None:
        """What is found from now on is one level deeper."""
        level = self._files(len(self._lineage.levels))
        with self._explained():
            self._writer.begin(level)
        self._lineage.levels.append(level)
        self._segment = 0

    def _seal_level(self) -> None:
        """A level is finished, and written."""
        level = self._lineage.levels[-1]
        self.findings.add_level(level.count, self._earlier_seconds + self._elapsed())
        if not level.count:
            self._lineage.levels.pop()
        with self._explained():
            self._writer.seal()
            files = self._level_files(level) if level.count else []
            self.store.commit(Level.of(self.findings, files))
        self._written += level.bytes + self._writer.run_bytes
        level.bytes = self._writer.run_bytes = 0
        self._let_go(self.findings.last_level - 1)
        if level.count:
            self._make_room(level.count)

    def _level_files(self, level: LevelFiles) -> list[LevelFile]:
        """The files of a level; the states are with its links, as far as a store counts them."""
        found = []
        for path in sorted(level.directory.iterdir()):
            rows = level.count if path.name == LINKS else 0
            found.append(LevelFile(path.name, rows, path.stat().st_size, 0, max(rows - 1, 0)))
        return found

    def _let_go(self, depth: int) -> None:
        """The states of a level are expanded, and need no disk."""
        if depth >= 0:
            level = self._lineage.levels[depth]
            level.forget_dropped()
            self._written -= level.states_bytes
            (self._root / STATES / str(depth)).unlink(missing_ok=True)

    # --- what is new -------------------------------------------------------------------------

    def _settle(self) -> None:
        """Leave out those of the states found since the last time that were found before."""
        level, room = self._lineage.levels[-1], self._room
        assert room is not None
        with self._explained():
            runs = self._writer.runs()
        blocks = range(self._segment, level.blocks)
        check = self._check_limits
        numbers = late(runs, self._older, self._threads, check)
        for instances in leave_out(level, blocks, numbers, room.late, self._threads, check):
            self.findings.new -= counted(instances, len(self.findings.new))
            self._kept -= len(instances)
            self._unsettled -= len(instances)
        self._runs += runs
        self._segment, self._unsettled = level.blocks, 0

    @property
    def _older(self) -> list[Run]:
        """The runs that memory has forgotten."""
        return self._runs[: self._held_from]

    def _make_room(self, found: int) -> None:
        """After a level of so many states, see that memory has room for the next."""
        assert self._room is not None
        wanted = found + found // 2
        if self._visited.count + wanted > self._room.states or not self._visited.count:
            self._forget(min(self._room.states - wanted, self._room.states // 2))

    def _forget(self, most: int) -> None:
        """Keep in memory what was found last, so many states at most. No batch may be under way."""
        assert self._room is not None
        first, count = len(self._runs), 0
        while first and count + self._runs[first - 1].count <= most:
            first -= 1
            count += self._runs[first].count
        self._held_from = first
        del self._visited  # before there is another one
        self._visited = VisitedSet(self.engine.layout.words, room=self._room.states)
        for filled in [self._threads.submit(self._fill, part) for part in range(PARTS)]:
            filled.result()

    def _fill(self, part: int) -> None:
        """Read one part of the visited set from disk."""
        for run in self._runs[self._held_from :]:
            with run.opened() as opened:
                for block in run.within(part, PART_BITS):
                    numbers = opened.numbers(block)
                    own = numbers[numbers >> np.uint64(64 - PART_BITS) == part]
                    self._visited.insert_fingerprints(gathered(own), range(part, part + 1))

    def _first_too_many(self, batch: Batch) -> int | None:
        """The first step of a batch that leads to a new state beyond the limit.

        Only what is known to be new counts.
        """
        too_many = super()._first_too_many(batch)
        if too_many is None or not self._older:
            return too_many
        self._settle()
        chosen = batch.rows[batch.new[batch.rows]]
        numbers = spread(batch.fingerprints[batch.new[batch.rows]])
        batch.new[chosen[np.isin(numbers, among(np.sort(numbers), self._older))]] = False
        return super()._first_too_many(batch)

    # --- limits and the disk -----------------------------------------------------------------

    def _check_limits(self) -> None:
        super()._check_limits()
        if self._max_disk is not None and self._disk_bytes > self._max_disk:
            raise Stop(f"the limit of {memory_words(self._max_disk)} on disk")

    @property
    def _disk_bytes(self) -> int:
        """The bytes of all files but markers: of whole levels, and of the one that is written."""
        level = self._lineage.levels[-1]
        return self._written + level.bytes + self._writer.run_bytes

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """A full disk ends the search as a limit does; whatever else is wrong with it is told."""
        try:
            yield
        except OSError as error:
            if error.errno in _FULL:
                raise Stop(f"a full disk: there is no room left for {self._root}") from error
            raise UsageError(f"cannot write to {self._root}: {error.strerror}") from error
        except UsageError as error:
            if isinstance(error.__cause__, OSError) and error.__cause__.errno in _FULL:
                raise Stop(f"a full disk: there is no room left for {self._root}") from error
            raise

    def _finish(self) -> None:
        super()._finish()
        if self.result.stopped and self._older:
            self.result.unfinished -= self._unsettled  # some of them may be found late
        self.result.disk_bytes = self._disk_bytes
