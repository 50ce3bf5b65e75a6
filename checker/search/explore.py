"""Exhaustive search on one machine: breadth first over packed states.

States are processed in the order in which they were found, and the steps of a state in the order of
action instances. So the first path to a state is the shortest, and among the shortest the least by
(action, parameters) from the start; chunk size and workers change nothing. A level is finished even
when it holds a violation, so counts are exact up to the depth that is reported.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING

import numpy as np

from checker.engines.agreement import FirstSteps, require_agreement
from checker.engines.compiled import Expander
from checker.engines.layout import Words
from checker.engines.misfit import MisfitError, with_run
from checker.engines.vectorised import Successors, VectorisedEngine
from checker.search.findings import Findings, Steps, tell
from checker.search.fingerprints import FINGERPRINT_BITS
from checker.search.limits import (
    INTERRUPTED,
    Limits,
    Progress,
    Stop,
    memory_bytes,
    peak_memory_bytes,
)
from checker.search.lineage import Lineage, StateRows
from checker.search.question import Options, Question
from checker.search.visited_set import Batch, Flags, VisitedSet
from checker.search.watch import Watch, first_dead_end
from checker.verdict import Exploration
from model.language.protocol import Model
from properties import Property

if TYPE_CHECKING:
    from checker.search.symmetry import Symmetry

__all__ = ["Explorer", "Journal", "Limits", "Options", "Progress"]

Expansion = tuple[Words, Successors, Words, Batch]
"""A batch, its steps, and the states after them, which under symmetry stand for their classes; they
are ready to be looked up, too.
"""

Added = tuple[Expansion, Flags]
"""An expansion, and which of the states after its steps are new."""

MIN_THREADED = 4_096  # below this many states, handing work to another thread costs more


class Journal:
    """Is told of every level of a search when it is whole, and may have the first ones already."""

    def earlier(self, question: Question) -> tuple[Findings, Iterable[StateRows]] | None:
        """What earlier runs found up to the answer, and their levels that have states, in order."""
        return None

    def level(self, findings: Findings, pieces: list[Words], lineage: Lineage) -> None:
        """Level `findings.last_level` is whole: its states in order, the last ones of `lineage`."""
        raise NotImplementedError


class Explorer:
    """One search. `run` returns what it found; `request_stop` ends it after the current chunk.

    `engine` replaces the model's own, `start` (one number a cell) the initial state. With a
    `journal` it begins where that ends.
    """

    def __init__(
        self,
        model: Model,
        properties: Iterable[Property],
        limits: Limits | None = None,
        options: Options | None = None,
        on_progress: Callable[[Progress], None] | None = None,
        engine: VectorisedEngine | None = None,
        start: tuple[int, ...] | None = None,
        journal: Journal | None = None,
    ) -> None:
        self.model = model
        self.limits = limits or Limits()
        self.options = options or Options()
        self.engine = engine or VectorisedEngine(model)
        self._start = start or model.initial_state
        self._journal = journal
        self._lineage = Lineage(len(model.instances))
        chosen = tuple(properties)
        self.question = Question(chosen, self.limits, self.options)
        self.findings = Findings.none(len(model.instances))
        # Threads start when they are given work.
        self._pool = ThreadPoolExecutor(self.options.workers)
        self._adder = ThreadPoolExecutor(1) if self.options.workers > 1 else None
        self._helper = ThreadPoolExecutor(1) if self.options.workers > 1 else None
        beside, patience = self._pool if self._helper else None, self.options.compile_after
        self._watch = Watch(self.engine, chosen, self.findings, beside, patience)
        self._expand = Expander(self.engine, beside, patience)
        self._symmetry: Symmetry | None = None
        if self.options.symmetry:
            from checker.search.symmetry import Symmetry

            self._symmetry = Symmetry(model, chosen, self.engine.layout, beside, patience)
        self._visited = VisitedSet(self.engine.layout.words, self.options.exact)
        self._kept = 0
        self._first_steps: FirstSteps | None = None
        self._on_progress = on_progress or (lambda _: None)
        self._stop_requested = False
        self.result = Exploration(model, chosen, "local", self.options.symmetry)

    def request_stop(self) -> None:
        """End the search soon, keeping what is known."""
        self._stop_requested = True

    def run(self, until: Callable[[Findings], bool] = lambda _: False) -> Exploration:
        """Search until nothing new is found, a property is violated, or a limit is reached.

        Ends too after a level of which `until` is true.
        """
        result = self.result
        self._started = time.perf_counter()
        if self.options.cross_check and self.engine.is_of_model:
            result.agreement = require_agreement(self.model, result.properties, self.engine)
            self._first_steps = FirstSteps(self.engine)
        pieces = self._begin()
        result.levels = self.findings.levels
        try:
            while not self.question.is_answered(self.findings) and not until(self.findings):
                self.limits.check_states(self._kept)
                pieces = self._level(pieces)
        except Stop as stop:
            result.stopped = str(stop)
            result.unfinished = self._kept - sum(result.levels)
        finally:
            # Whoever stops does not want to wait.
            for threads in (self._pool, self._adder, self._helper):
                if threads is not None:
                    threads.shutdown(wait=False, cancel_futures=True)
        self._finish()
        return result

    def deepest(self) -> Steps:
        """The least run to a state of the deepest level that has been visited."""
        depth = self.findings.depth
        path = self._lineage.path(depth, self._lineage.number(depth, 0))
        return self._concrete(tuple(self.model.instances[k] for k in path))

    def _begin(self) -> list[Words]:
        """The states to expand first: the initial one, or those of the journal's last level."""
        earlier = self._journal and self._journal.earlier(self.question)
        self._earlier_seconds = earlier[0].seconds if earlier else 0.0
        if earlier:
            return self._go_on_from(*earlier)
        words = self._canonical(self.engine.layout.pack([self._start]))
        self._visited.insert(words)
        self._lineage.begin_level()
        self._lineage.add(np.zeros(1, np.int64), np.zeros(1, np.uint16))
        self._kept = 1
        self._watch.states(words, 0, lambda _: (-1, -1))
        self._whole([words])
        return [words]

    def _go_on_from(self, findings: Findings, levels: Iterable[StateRows]) -> list[Words]:
        self.findings = findings
        self._watch.go_on_from(findings)
        pieces: list[Words] = []
        for rows in levels:
            self._visited.insert(rows.words)
            self._lineage.add_rows(rows)
            pieces = [rows.words]
        self._kept = sum(findings.levels)
        return pieces

    # --- one level ---------------------------------------------------------------------------

    def _level(self, pieces: list[Words]) -> list[Words]:
        """Expand every state of a level; the states of the next level, in order."""
        frontier = self.findings.frontier
        expanded = 0
        found: list[Words] = []
        self._lineage.begin_level()
        depth = self.findings.depth
        try:
            with closing(self._added(pieces, frontier)) as batches:
                for expansion, new in batches:
                    fresh = self._take(expansion, new, expanded)
                    expanded += expansion[0].shape[1]
                    if fresh.shape[1]:
                        found.append(fresh)
                    self._report(expanded, frontier)
        except _MisfitInBatchError as wrong:
            place = self._lineage.number(depth, expanded + wrong.row)
            path = self._lineage.path(depth, place)
            steps_before = self._concrete(tuple(self.model.instances[k] for k in path))
            raise with_run(self.model, wrong.error, steps_before) from wrong.error
        self._whole(found)
        return found

    def _whole(self, pieces: list[Words]) -> None:
        """A level with these states is finished."""
        size = sum(piece.shape[1] for piece in pieces)
        self.findings.add_level(size, self._earlier_seconds + self._elapsed())
        if self._journal is not None:
            self._journal.level(self.findings, pieces, self._lineage)

    def _added(self, pieces: list[Words], frontier: int) -> Generator[Added, None, None]:
        """Batches with what is new; with workers, the next one is added while one is taken."""
        adding: deque[tuple[Expansion, Future[Flags]]] = deque()
        with closing(self._expansions(pieces, frontier)) as expansions:
            for expansion in expansions:
                if self._adder is None or frontier < MIN_THREADED:
                    yield expansion, self._add(expansion[3])
                    continue
                adding.append((expansion, self._adder.submit(self._add, expansion[3])))
                if len(adding) > 1:
                    before, new = adding.popleft()
                    yield before, new.result()
            for before, new in adding:
                yield before, new.result()

    def _add(self, batch: Batch) -> Flags:
        # Limits are checked where batches are added, one after the other: what the tables will
        # need cannot be told while they grow.
        self._check_limits(batch)
        return self._visited.add(batch, self._helper)

    def _expansions(self, pieces: list[Words], frontier: int) -> Generator[Expansion, None, None]:
        """Batches with their successors, in order; with workers, expanded ahead in threads."""
        batches = in_batches(pieces, self.options.chunk)
        if self.options.workers < 2 or frontier < MIN_THREADED:
            for words in batches:
                yield self._expanded(words)
            return
        ahead: deque[Future[Expansion]] = deque()
        try:
            for words in batches:
                ahead.append(self._pool.submit(self._expanded, words))
                if len(ahead) > self.options.workers:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        finally:
            for future in ahead:
                future.cancel()

    def _expanded(self, words: Words) -> Expansion:
        try:
            steps = self._expand(words)
        except MisfitError as error:
            same = words == self.engine.layout.pack([error.state])
            raise _MisfitInBatchError(error, int(same.all(axis=0).argmax())) from error
        after = self._canonical(steps.words)
        return words, steps, after, self._visited.batch(after)

    def _canonical(self, words: Words) -> Words:
        """The states that stand for their classes under symmetry; without it, the same states."""
        return words if self._symmetry is None else self._symmetry.canonical(words)

    def _take(self, expansion: Expansion, new: Flags, first: int) -> Words:
        """Count and check a batch's steps; the states that are new.

        The batch begins at place `first` of its level.
        """
        words, steps, after, _ = expansion
        findings, rows = self.findings, words.shape[1]
        too_many = self._first_too_many(new)
        if too_many is not None:
            rows = int(steps.rows[too_many])
            steps, new, after = steps.first(too_many), new[:too_many], after[:, :too_many]
        depth = findings.depth

        def number(row: int) -> int:
            return self._lineage.number(depth, first + row)

        self._watch.steps(words, steps, depth + 1, number)
        if self.options.deadlock and findings.deadlock is None:
            stuck = first_dead_end(rows, steps.rows[steps.rows < rows])
            findings.deadlock = None if stuck is None else (depth, number(stuck))
        findings.transitions += steps.count
        count = len(findings.enabled)
        enabled = np.bincount(steps.instances, minlength=count)
        if self._first_steps is not None:
            fresh_instances = np.flatnonzero((enabled > 0) & (findings.enabled == 0))
            self._first_steps.check(words, steps, fresh_instances.tolist())
        findings.enabled += enabled
        kept = np.flatnonzero(new)  # taking by number is several times as fast as by mask
        instances = steps.instances.take(kept)
        findings.new += np.bincount(instances, minlength=count)
        parents = steps.rows.take(kept)
        fresh = after.take(kept, axis=1)
        self._lineage.add(parents.astype(np.int64) + first, instances)
        self._watch.states(
            fresh, depth + 1, lambda place: (number(int(parents[place])), int(instances[place]))
        )
        self._kept += fresh.shape[1]
        if too_many is not None:
            raise self.limits.out_of_states
        return fresh

    def _first_too_many(self, new: Flags) -> int | None:
        """The first step of a batch that leads to a new state beyond the limit."""
        if self.limits.states is None:
            return None
        kept = np.flatnonzero(new)
        room = self.limits.states - self._kept
        return int(kept[room]) if len(kept) > room else None

    # --- limits and progress -----------------------------------------------------------------

    def _check_limits(self, batch: Batch) -> None:
        if self._stop_requested:
            raise Stop(INTERRUPTED)
        memory = 0
        if self.limits.memory is not None:
            memory = memory_bytes() + self._visited.growth(batch)
        self.limits.check(self._elapsed(), memory)

    def _elapsed(self) -> float:
        return time.perf_counter() - self._started

    def _report(self, expanded: int, frontier: int) -> None:
        self._on_progress(
            Progress(
                depth=len(self.findings.levels),
                expanded=expanded,
                frontier=frontier,
                states=self._kept,
                transitions=self.findings.transitions,
                seconds=self._elapsed(),
            )
        )

    # --- results -----------------------------------------------------------------------------

    def _finish(self) -> None:
        result = self.result
        tell(result, self.findings, self._lineage.path, self._concrete)
        result.fingerprint_bits = FINGERPRINT_BITS * (
            self.engine.layout.words if self.options.exact else 1
        )
        result.collision_probability = self._visited.collision_probability
        result.seconds = self._earlier_seconds + self._elapsed()
        result.peak_memory_bytes = peak_memory_bytes()

    def _concrete(self, steps: Steps) -> Steps:
        """The run from the initial state that steps between classes stand for."""
        if self._symmetry is None:
            return steps
        return self._symmetry.concrete(tuple(self._start), steps)


class _MisfitInBatchError(Exception):
    """A step of a batch does not fit: of the state in this row."""

    def __init__(self, error: MisfitError, row: int) -> None:
        super().__init__(error)
        self.error = error
        self.row = row


def in_batches(pieces: list[Words], size: int) -> Iterator[Words]:
    """The states of all pieces in order, in batches of `size`; the pieces are used up."""
    waiting: list[Words] = []
    count = 0
    pieces.reverse()
    while pieces:
        piece = pieces.pop()
        while count + piece.shape[1] >= size:
            cut = size - count
            yield np.concatenate([*waiting, piece[:, :cut]], axis=1) if waiting else piece[:, :cut]
            piece, waiting, count = piece[:, cut:], [], 0
        if piece.shape[1]:
            waiting.append(piece)
            count += piece.shape[1]
    if waiting:
        yield np.concatenate(waiting, axis=1)
