"""Exhaustive search on one machine: breadth first over packed states.

States are processed in the order in which they were found, and the steps of a state in the order of
action instances. So the first path to a state is the shortest, and among the shortest the least by
(action, parameters) from the start; chunk size and workers change nothing. A level is finished even
when it holds a violation, so counts are exact up to the depth that is reported.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from checker.core.engines.agreement import FirstSteps, require_agreement
from checker.core.engines.background import Background
from checker.core.engines.compiled import Expander
from checker.core.engines.layout import Words
from checker.core.engines.misfit import MisfitError, with_run
from checker.core.engines.vectorised import Successors, VectorisedEngine
from checker.core.search.conveyor import Conveyor
from checker.core.search.findings import Findings, Steps, tell
from checker.core.search.fingerprints import FINGERPRINT_BITS, collision_probability
from checker.core.search.fresh import counted, fresh
from checker.core.search.frontier import Frontier, joined
from checker.core.search.limits import (
    INTERRUPTED,
    Limits,
    Progress,
    Stop,
    memory_bytes,
    peak_memory_bytes,
)
from checker.core.search.lineage import Lineage, StateRows
from checker.core.search.memory import keep_for_the_next
from checker.core.search.question import Options, Question
from checker.core.search.visited_set import PARTS, Batch, VisitedSet
from checker.core.search.watch import Watch, first_dead_end
from checker.core.verdict import Exploration
from model.language.protocol import Model
from properties import Property

if TYPE_CHECKING:
    from checker.core.search.symmetry import Symmetry

__all__ = ["Explorer", "Journal", "Limits", "Options", "Progress"]

MIN_THREADED = 4_096  # below this many states, handing work to another thread costs more
_LANES = 2  # for each worker: so that one may be in the midst of growing its parts
_AHEAD = 2  # batches under way for each worker, and so many of a level unless they get too small


class Expansion(NamedTuple):
    """Packed states, their steps, and the states after them, which under symmetry stand for their
    classes; and these as the visited set takes them.
    """

    words: Words
    steps: Successors
    after: Words
    batch: Batch


_Expanding = Conveyor[Any, Expansion]


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
        workers, patience = self.options.workers, self.options.compile_after
        self._background = Background(workers)
        beside = self._background if workers > 1 else None
        self._watch = Watch(self.engine, chosen, self.findings, beside, patience)
        self._expand = Expander(self.engine, beside, patience)
        self._symmetry: Symmetry | None = None
        if self.options.symmetry:
            from checker.core.search.symmetry import Symmetry

            self._symmetry = Symmetry(model, chosen, self.engine.layout, beside, patience)
        self._visited = VisitedSet(self.engine.layout.words, self.options.exact)
        self._growing = threading.Lock()
        self._frontier = Frontier(self.options.chunk, self._ahead, MIN_THREADED)
        self._conveyor = self._expanding(self._frontier.take)
        self._helpers = 0
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
        keep_for_the_next()
        if self.options.cross_check and self.engine.is_of_model:
            result.agreement = require_agreement(self.model, result.properties, self.engine)
            self._first_steps = FirstSteps(self.engine)
        self._begin()
        result.levels = self.findings.levels
        try:
            while not self.question.is_answered(self.findings) and not until(self.findings):
                self.limits.check_states(self._kept)
                self._level()
        except Stop as stop:
            result.stopped = str(stop)
            result.unfinished = self._kept - sum(result.levels)
        finally:
            # Whoever stops does not want to wait.
            self._conveyor.close()
            self._background.close()
        self._finish()
        return result

    def deepest(self) -> Steps:
        """The least run to a state of the deepest level that has been visited."""
        depth = self.findings.depth
        path = self._lineage.path(depth, self._lineage.number(depth, 0))
        return self._concrete(tuple(self.model.instances[k] for k in path))

    def _begin(self) -> None:
        """Begin with the initial state, or the states of the journal's last level."""
        earlier = self._journal and self._journal.earlier(self.question)
        self._earlier_seconds = earlier[0].seconds if earlier else 0.0
        if earlier:
            self._go_on_from(*earlier)
            return
        words = self._canonical(self.engine.layout.pack([self._start]))
        self._put_first(words)
        self._lineage.begin_level()
        self._lineage.add(np.zeros(1, np.int64), np.zeros(1, np.uint16))
        self._kept = 1
        self._watch.states(words, 0, lambda _: (-1, -1))
        self._whole(1, [words])

    def _put_first(self, words: Words) -> None:
        """The initial state is visited, and waits to be expanded."""
        self._visited.insert(words)
        self._frontier.put(words)

    def _go_on_from(self, findings: Findings, levels: Iterable[StateRows]) -> None:
        self.findings = findings
        self._watch.go_on_from(findings)
        for rows in levels:
            self._visited.insert(rows.words)
            self._lineage.add_rows(rows)
        self._frontier.put(rows.words)
        self._frontier.end_level()
        self._kept = sum(findings.levels)

    @property
    def _ahead(self) -> int:
        """How many batches may be under way."""
        workers = self.options.workers
        return _AHEAD * workers if workers > 1 else 1

    def _expanding(self, batches: Callable[[], Any]) -> _Expanding:
        """Expands batches, as `_expanded` takes them, and adds what is found to the visited set."""
        lanes = [partial(self._add, parts) for parts in _shared_out(self.options.workers)]
        return Conveyor(batches, self._expanded, lanes, self._ahead)

    # --- one level ---------------------------------------------------------------------------

    def _level(self) -> None:
        """Expand every state of a level; their successors are the next level."""
        frontier = self.findings.frontier
        expanded = size = 0
        found: list[Words] = []
        self._lineage.begin_level()
        if frontier >= MIN_THREADED:
            self._have_help()
        while expanded < frontier:
            self._check_limits()
            words, taken = self._next_taken(expanded)
            self._frontier.put(self._waiting(words))
            size += words.shape[1]
            if self._journal is not None:
                found.append(words)
            expanded += taken
            self._report(expanded, frontier)
        self._whole(size, found)

    def _next_taken(self, first: int) -> tuple[Words, int]:
        """What is new of the next batch, and how many states were expanded; nothing else is held
        while the one after it is waited for.
        """
        expansion = self._next(first)
        return self._take(expansion, first), expansion.words.shape[1]

    def _next(self, first: int) -> Expansion:
        """The next batch, which begins at place `first` of its level, with what is new."""
        try:
            return self._conveyor.next()
        except _MisfitInBatchError as wrong:
            depth = self.findings.depth
            path = self._lineage.path(depth, self._lineage.number(depth, first + wrong.row))
            steps_before = self._concrete(tuple(self.model.instances[k] for k in path))
            raise with_run(self.model, wrong.error, steps_before) from wrong.error

    def _have_help(self) -> None:
        """With workers, let threads help."""
        while self._helpers < self.options.workers - 1:
            self._background.begin(self._conveyor.help)
            self._helpers += 1

    def _whole(self, size: int, pieces: list[Words]) -> None:
        """A level of so many states is finished; a journal is told which."""
        self._frontier.end_level()
        self.findings.add_level(size, self._earlier_seconds + self._elapsed())
        if self._journal is not None:
            self._journal.level(self.findings, pieces, self._lineage)

    def _add(self, parts: range, expansion: Expansion) -> None:
        """Add to some parts of the visited set."""
        if self.limits.memory is not None:
            with self._growing:  # one at a time, so that what is there is known
                more = self._visited.growth(expansion.batch, parts)
                self.limits.check(self._elapsed(), memory_bytes() + more)
                self._visited.make_room(expansion.batch, parts)
        self._visited.add(expansion.batch, parts)

    def _expanded(self, pieces: Any) -> Expansion:
        words = joined(pieces)
        steps = self._steps(words)
        after = self._canonical(steps.words)
        return Expansion(words, steps, after, self._visited.batch(after))

    def _steps(self, words: Words) -> Successors:
        """All steps of a batch."""
        try:
            return self._expand(words)
        except MisfitError as error:
            same = words == self.engine.layout.pack([error.state])
            raise _MisfitInBatchError(error, int(same.all(axis=0).argmax())) from error

    def _waiting(self, words: Words) -> Words:
        """States that were taken, as they wait to be expanded."""
        return words

    def _canonical(self, words: Words) -> Words:
        """The states that stand for their classes under symmetry; without it, the same states."""
        return words if self._symmetry is None else self._symmetry.canonical(words)

    def _take(self, expansion: Expansion, first: int) -> Words:
        """Count and check a batch's steps; the states that are new.

        The batch begins at place `first` of its level.
        """
        words, steps, after, batch = expansion
        findings, rows, new = self.findings, words.shape[1], batch.new
        too_many = self._first_too_many(batch)
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
        enabled = counted(steps.instances, count)
        if self._first_steps is not None:
            fresh_instances = np.flatnonzero((enabled > 0) & (findings.enabled == 0))
            self._first_steps.check(words, steps, fresh_instances.tolist())
        findings.enabled += enabled
        found = fresh(steps, after, new)
        findings.new += counted(found.instances, count)
        self._lineage.add(found.rows, found.instances, after=first)
        self._watch.states(
            found.words,
            depth + 1,
            lambda place: (number(int(found.rows[place])), int(found.instances[place])),
        )
        self._kept += len(found.rows)
        if too_many is not None:
            raise self.limits.out_of_states
        return found.words

    def _first_too_many(self, batch: Batch) -> int | None:
        """The first step of a batch that leads to a new state beyond the limit."""
        if self.limits.states is None:
            return None
        kept = np.flatnonzero(batch.new)
        room = self.limits.states - self._kept
        return int(kept[room]) if len(kept) > room else None

    # --- limits and progress -----------------------------------------------------------------

    def _check_limits(self) -> None:
        if self._stop_requested:
            raise Stop(INTERRUPTED)
        self.limits.check(self._elapsed(), memory_bytes() if self.limits.memory is not None else 0)

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
        exact = self.options.exact
        result.fingerprint_bits = FINGERPRINT_BITS * (self._visited.words if exact else 1)
        result.collision_probability = 0.0 if exact else collision_probability(self._kept)
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


def _shared_out(workers: int) -> list[range]:
    """The parts of the visited set, shared out among lanes for so many workers."""
    lanes = min(_LANES * workers, PARTS) if workers > 1 else 1
    return [range(PARTS * n // lanes, PARTS * (n + 1) // lanes) for n in range(lanes)]
