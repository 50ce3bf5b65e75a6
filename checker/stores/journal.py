"""The local search with a store: each whole level is written, and a later run goes on from there.

The search itself is `Explorer`; what this adds happens between levels.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from checker.engines.layout import Words
from checker.search.explore import Explorer, Limits, Options, Progress
from checker.stores.identity import manifest_of
from checker.stores.level_files import ROWS_A_FILE, Numbers, StateRows, read_level, write_rows
from checker.stores.outcome import Counts, Link, conclude, levels_needed
from checker.stores.store import Level, Manifest, Store
from checker.verdict import Exploration
from model.language.protocol import Model
from properties import Property

_INSTANCE_BITS = 16


def manifest_for(model: Model, properties: Iterable[Property], options: Options) -> Manifest:
    """What a store of this search belongs to."""
    return manifest_of(
        model,
        properties,
        exact=options.exact,
        deadlock=options.deadlock,
        symmetry=options.symmetry,
    )


def open_store(location: str, wanted: Manifest, resume: bool) -> Store:
    """A new store; or with `resume` the one that is there, or a new one if there is none."""
    from checker.stores.storage import Storage, require_pyarrow
    from checker.stores.store import MANIFEST

    require_pyarrow()
    if resume and MANIFEST in Storage(location).sizes():
        return Store.open(location, wanted)
    return Store.create(location, wanted)


class StoredExplorer(Explorer):
    """A local search that keeps its levels in a store, and starts with those that are there.

    Where `hand_over` is given, it ends after the first level with that many states, for another
    engine to go on.
    """

    def __init__(
        self,
        store: Store,
        model: Model,
        properties: Iterable[Property],
        limits: Limits | None = None,
        options: Options | None = None,
        on_progress: Callable[[Progress], None] | None = None,
        hand_over: int | None = None,
    ) -> None:
        super().__init__(model, properties, limits, options, on_progress)
        self.store = store
        self._hand_over = hand_over
        self._earlier_seconds = 0.0
        self._known: dict[str, Link] = {}

    def run(self) -> Exploration:
        """As `Explorer.run`; a stopped search loses no more than the level that it was in."""
        with self.store.locked():
            result = super().run()
            result.seconds += self._earlier_seconds
            if self._hand_over is None:
                conclude(self.store, result)
        return result

    def _is_answered(self) -> bool:
        if self._hand_over is not None and self.result.levels[-1] >= self._hand_over:
            return True
        return super()._is_answered()

    # --- writing -----------------------------------------------------------------------------

    def _level(self, pieces: list[Words], pool: ThreadPoolExecutor) -> list[Words]:
        already = len(self._links)
        found = super()._level(pieces, pool)
        links = np.concatenate([np.empty(0, np.uint64), *self._links[already:]])
        self._keep(found, links, len(self.store.levels))
        return found

    def _keep(self, pieces: list[Words], links: Words, depth: int) -> None:
        """Store a level; its links count parents from the initial state on."""
        files = []
        first = sum(self.result.levels[: max(depth - 1, 0)])
        parents = (links >> np.uint64(_INSTANCE_BITS)).astype(np.int64) - first
        instances = (links & np.uint64((1 << _INSTANCE_BITS) - 1)).astype(np.int32)
        if depth == 0:
            parents, instances = parents - 1, instances - 1
        self.store.storage.make_directory(self.store.directory(depth))
        for rows in _row_slices(pieces, parents, instances):
            files.append(write_rows(self.store.storage, depth, rows))
        counts = Counts(
            transitions=self.result.transitions,
            enabled=self._enabled,
            new=self._new,
            violated=self._violated(),
            reached=dict(self._watch.reached),
            premises=set(self._watch.premises),
            deadlock=self._deadlock(depth),
        )
        seconds = self._earlier_seconds + time.perf_counter() - self._started
        self.store.commit(counts.level(depth, files, seconds))

    def _violated(self) -> dict[str, Link]:
        for prop, found in self._watch.violated.items():
            if prop.name not in self._known:
                self._known[prop.name] = self._link_of(*found)
        return self._known

    def _link_of(self, depth: int, state: int, instance: int | None) -> Link:
        """A violation as the step that leads to it, its parent by its number in its level."""
        if depth == 0:
            return 0, -1, -1
        if instance is None:
            link = int(np.concatenate(self._links)[state])
            state, instance = link >> _INSTANCE_BITS, link & ((1 << _INSTANCE_BITS) - 1)
        return depth, state - sum(self.result.levels[: depth - 1]), instance

    def _deadlock(self, depth: int) -> tuple[int, int] | None:
        if self._watch.deadlock is None:
            return None
        level = 0
        while self._watch.deadlock >= sum(self.result.levels[: level + 1]):
            level += 1
        return level, self._watch.deadlock - sum(self.result.levels[:level])

    # --- resuming ----------------------------------------------------------------------------

    def _begin(self) -> list[Words]:
        levels = levels_needed(
            self.store.levels, self.result.properties, self.limits.depth, self.options.keep_going
        )
        if not levels:
            pieces = super()._begin()
            self._keep(pieces, self._links[0], 0)
            return pieces
        self.store.clean()
        above = np.zeros(1, np.int64)
        rows: StateRows | None = None
        for level in levels:
            if level.size:
                rows = read_level(self.store, level.depth, self.engine.layout.words)
                self._restore_level(rows, above)
                above = rows.numbers
        self._restore_counts(levels[-1])
        return [rows.words] if rows is not None and levels[-1].size else []

    def _restore_level(self, rows: StateRows, above: Numbers) -> None:
        self._visited.insert(rows.words)
        first = sum(self.result.levels[:-1])
        places = np.searchsorted(above, np.maximum(rows.parents, 0)) + first
        links = (places.astype(np.uint64) << np.uint64(_INSTANCE_BITS)) | np.maximum(
            rows.instances, 0
        ).astype(np.uint64)
        self._links.append(links)
        self.result.levels.append(rows.count)

    def _restore_counts(self, level: Level) -> None:
        counts = Counts.of(level, len(self.model.instances))
        self._kept = sum(self.result.levels)
        self._enabled, self._new = counts.enabled, counts.new
        self.result.transitions = counts.transitions
        self._earlier_seconds = level.seconds
        self._known = counts.violated
        self._watch.restore(
            {name: self._state_of(*link) for name, link in counts.violated.items()},
            counts.reached,
            counts.premises,
            counts.deadlock and self._place(*counts.deadlock),
        )

    def _state_of(self, depth: int, parent: int, instance: int) -> tuple[int, int, int | None]:
        if depth == 0:
            return 0, 0, None
        return depth, self._place(depth - 1, parent), instance

    def _place(self, depth: int, number: int) -> int:
        """The number of a state in order of discovery, from the one in its level."""
        numbers = read_level(self.store, depth, self.engine.layout.words).numbers
        return sum(self.result.levels[:depth]) + int(np.searchsorted(numbers, number))


def _row_slices(
    pieces: list[Words], parents: Numbers, instances: npt.NDArray[np.int32]
) -> Iterator[StateRows]:
    """The states of a level, numbered in order, in parts small enough for a file each."""
    done, count = 0, 0
    waiting: list[Words] = []
    for piece in [*pieces, None]:
        if piece is not None:
            waiting.append(piece)
            count += piece.shape[1]
        if count and (piece is None or count >= ROWS_A_FILE):
            chosen = slice(done, done + count)
            yield StateRows(
                np.concatenate(waiting, axis=1),
                np.arange(done, done + count),
                parents[chosen],
                instances[chosen],
            )
            done, waiting, count = done + count, [], 0
