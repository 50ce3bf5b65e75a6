"""Exhaustive search on one machine: breadth first over packed states.

States are processed in the order in which they were found, and the steps of a state in the order of
action instances. So the first path to a state is the shortest, and among the shortest the least by
(action, parameters) from the start; chunk size and workers change nothing. A level is finished even
when it holds a violation, so counts are exact up to the depth that is reported.
"""

from __future__ import annotations

import itertools
import resource
import sys
import time
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import psutil

from checker.engines.compiled import Expander
from checker.engines.layout import Words
from checker.engines.vectorised import Successors, VectorisedEngine
from checker.search.fingerprints import FINGERPRINT_BITS, Flags, VisitedSet
from checker.search.symmetry import Symmetry
from checker.search.watch import Watch
from checker.verdict import ActionCount, Exploration, Violation
from model.language.errors import UsageError
from model.language.protocol import Instance, Model
from properties import Property

Links = npt.NDArray[np.uint64]
"""Where states came from: `parent << 16 | instance`, parents numbered in order of discovery."""

Expansion = tuple[Words, Successors, Words]
"""A batch, its steps, and the states after them, which under symmetry stand for their classes."""

_INSTANCE_BITS = 16
DEFAULT_CHUNK = 32_768
DEFAULT_COMPILE_AFTER = 0.2
MIN_THREADED = 4_096  # below this many states, handing work to another thread costs more


@dataclass(frozen=True)
class Limits:
    """Where a search stops, whatever it has found: depth, states, seconds, bytes of memory.

    A search visits `states` states at most, and stops where it finds one more.
    """

    depth: int | None = None
    states: int | None = None
    seconds: float | None = None
    memory: int | None = None

    @property
    def out_of_states(self) -> Stop:
        """What ends a search that finds a state too many."""
        return Stop(f"the limit of {self.states:,} states")

    def check(self, seconds: float, memory: int) -> None:
        """Raise `Stop` if these amounts exceed a limit."""
        if self.seconds is not None and seconds > self.seconds:
            raise Stop(f"the limit of {self.seconds:g} seconds")
        if self.memory is not None and memory > self.memory:
            raise Stop(f"the limit of {self.memory / 1e6:,.0f} MB of memory")


@dataclass(frozen=True)
class Options:
    """How a search runs. None changes what it finds; `symmetry` counts classes of states."""

    workers: int = 1
    chunk: int = DEFAULT_CHUNK
    exact: bool = False
    keep_going: bool = False
    deadlock: bool = False
    symmetry: bool = False
    compile_after: float | None = DEFAULT_COMPILE_AFTER  # seconds of expanding; `None`: never


@dataclass(frozen=True)
class Progress:
    """Where a search is: the level being built, and totals so far."""

    depth: int
    expanded: int
    frontier: int
    states: int
    transitions: int
    seconds: float


class Stop(Exception):  # noqa: N818  # an end, not an error
    """A limit, or the user, ends the search; the message says which."""


def peak_memory_bytes() -> int:
    """The most memory that this process has held so far."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


class Explorer:
    """One search. `run` returns what it found; `request_stop` ends it after the current chunk.

    `engine` replaces the model's own, `start` (one number a cell) the initial state.
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
    ) -> None:
        self.model = model
        self.limits = limits or Limits()
        self.options = options or Options()
        self.engine = engine or VectorisedEngine(model)
        self._start = start or model.initial_state
        if len(model.instances) >= 1 << _INSTANCE_BITS:
            raise UsageError(
                f"{len(model.instances):,} action instances: at most {1 << _INSTANCE_BITS:,} are "
                "possible, so choose smaller bounds"
            )
        chosen = tuple(properties)
        self._symmetry = (
            Symmetry(model, chosen, self.engine.layout) if self.options.symmetry else None
        )
        self._watch = Watch(self.engine, chosen)
        self._expand: Callable[[Words], Successors] = self.engine.expand
        self._visited = VisitedSet(self.engine.layout.words, self.options.exact)
        self._links: list[Links] = []
        self._kept = 1
        self._on_progress = on_progress or (lambda _: None)
        self._stop_requested = False
        self._process = psutil.Process()
        self._enabled = np.zeros(len(model.instances), np.int64)
        self._new = np.zeros(len(model.instances), np.int64)
        self.result = Exploration(model, chosen, "local", self.options.symmetry)

    def request_stop(self) -> None:
        """End the search soon, keeping what is known."""
        self._stop_requested = True

    def run(self) -> Exploration:
        """Search until nothing new is found, a property is violated, or a limit is reached."""
        self._started = time.perf_counter()
        result = self.result
        pieces = self._begin()
        pool = ThreadPoolExecutor(self.options.workers)
        try:
            self._expand = self._expander(pool)
            while pieces and not self._is_answered():
                pieces = self._level(pieces, pool)
        except Stop as stop:
            result.stopped = str(stop)
            result.unfinished = self._kept - sum(result.levels)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)  # whoever stops does not want to wait
        self._finish(sum(piece.shape[1] for piece in pieces))
        return result

    def _begin(self) -> list[Words]:
        """The states to expand first: the initial one."""
        pieces = [self._canonical(self.engine.layout.pack([self._start]))]
        self._visited.insert(pieces[0])
        self._links.append(np.zeros(1, np.uint64))
        self._watch.states(pieces[0], 0, 0)
        self.result.levels.append(1)
        return pieces

    def _expander(self, pool: ThreadPoolExecutor) -> Callable[[Words], Successors]:
        patience = self.options.compile_after
        if patience is None:
            return self.engine.expand
        return Expander(self.engine, pool if self.options.workers > 1 else None, patience)

    def _is_answered(self) -> bool:
        """Nothing more needs to be known, or the depth limit is reached."""
        if self.limits.depth is not None and self.result.depth >= self.limits.depth:
            return True
        if self._watch.deadlock is not None and not self.options.keep_going:
            return True
        found = self._watch.violated
        if not found or not self.options.keep_going:
            return bool(found)
        stuck = self._watch.deadlock is not None or not self.options.deadlock
        return stuck and self._watch.all_settled

    # --- one level ---------------------------------------------------------------------------

    def _level(self, pieces: list[Words], pool: ThreadPoolExecutor) -> list[Words]:
        """Expand every state of a level; the states of the next level, in order."""
        frontier = sum(piece.shape[1] for piece in pieces)
        first = sum(self.result.levels[:-1])
        expanded = 0
        found: list[Words] = []
        with closing(self._expansions(pieces, frontier, pool)) as expansions:
            for words, steps, after in expansions:
                fresh = self._take(words, steps, after, first + expanded)
                expanded += words.shape[1]
                if fresh.shape[1]:
                    found.append(fresh)
                self._report(expanded, frontier)
        size = sum(piece.shape[1] for piece in found)
        if size:
            self.result.levels.append(size)
        return found

    def _expansions(
        self, pieces: list[Words], frontier: int, pool: ThreadPoolExecutor
    ) -> Generator[Expansion, None, None]:
        """Batches with their successors, in order; with workers, expanded ahead in threads."""
        batches = _batches(pieces, self.options.chunk)
        if self.options.workers < 2 or frontier < MIN_THREADED:
            for words in batches:
                yield self._expanded(words)
            return
        ahead: deque[Future[Expansion]] = deque()
        try:
            for words in batches:
                ahead.append(pool.submit(self._expanded, words))
                if len(ahead) > self.options.workers:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        finally:
            for future in ahead:
                future.cancel()

    def _expanded(self, words: Words) -> Expansion:
        steps = self._expand(words)
        return words, steps, self._canonical(steps.words)

    def _canonical(self, words: Words) -> Words:
        """The states that stand for their classes under symmetry; without it, the same states."""
        return words if self._symmetry is None else self._symmetry.canonical(words)

    def _take(self, words: Words, steps: Successors, after: Words, first: int) -> Words:
        """Count, check and deduplicate a batch's steps; the states that are new."""
        self._check_limits(steps.count)
        depth, rows = len(self.result.levels), words.shape[1]
        new = self._visited.insert(after)
        too_many = self._first_too_many(new)
        if too_many is not None:
            rows = int(steps.rows[too_many])
            steps, new, after = steps.first(too_many), new[:too_many], after[:, :too_many]
        self._watch.steps(words, steps, first, depth)
        if self.options.deadlock:
            self._watch.dead_ends(rows, steps.rows[steps.rows < rows], first)
        self.result.transitions += steps.count
        count = len(self._enabled)
        self._enabled += np.bincount(steps.instances, minlength=count)
        kept = np.flatnonzero(new)  # taking by number is several times as fast as by mask
        instances = steps.instances.take(kept)
        self._new += np.bincount(instances, minlength=count)
        parents = steps.rows.take(kept).astype(np.uint64) + np.uint64(first)
        fresh = after.take(kept, axis=1)
        self._links.append((parents << np.uint64(_INSTANCE_BITS)) | instances)
        self._watch.states(fresh, self._kept, depth)
        self._kept += fresh.shape[1]
        if too_many is not None:
            raise self.limits.out_of_states
        return fresh

    def _first_too_many(self, new: Flags) -> int | None:
        """The first step of a batch that leads to a new state beyond the limit."""
        if self.limits.states is None or self._visited.count <= self.limits.states:
            return None
        return int(np.flatnonzero(new)[self.limits.states - self._kept])

    # --- limits and progress -----------------------------------------------------------------

    def _check_limits(self, more: int) -> None:
        if self._stop_requested:
            raise Stop("interrupted")
        memory = 0
        if self.limits.memory is not None:
            memory = self._process.memory_info().rss + self._visited.growth(more)
        self.limits.check(self._elapsed(), memory)

    def _elapsed(self) -> float:
        return time.perf_counter() - self._started

    def _report(self, expanded: int, frontier: int) -> None:
        self._on_progress(
            Progress(
                depth=len(self.result.levels),
                expanded=expanded,
                frontier=frontier,
                states=self._visited.count,
                transitions=self.result.transitions,
                seconds=self._elapsed(),
            )
        )

    # --- results -----------------------------------------------------------------------------

    def _finish(self, frontier: int) -> None:
        result, watch = self.result, self._watch
        result.frontier = frontier
        for action in self.model.protocol.actions:
            result.actions[action.name] = ActionCount()
        for instance in self.model.instances:
            counts = result.actions[instance.action.name]
            counts.enabled += int(self._enabled[instance.number])
            counts.new += int(self._new[instance.number])
        for prop in watch.violated_in_order:
            depth, state, last = watch.violated[prop]
            steps = self._path(state)
            if last is not None:
                steps = (*steps, self.model.instances[last])
            result.violations.append(Violation(prop, depth, self._concrete(steps)))
        if watch.deadlock is not None:
            result.deadlock = self._concrete(self._path(watch.deadlock))
        result.reached, result.premises = watch.reached, watch.premises
        result.fingerprint_bits = FINGERPRINT_BITS * (
            self.engine.layout.words if self.options.exact else 1
        )
        result.collision_probability = self._visited.collision_probability
        result.seconds = self._elapsed()
        result.peak_memory_bytes = peak_memory_bytes()

    def _concrete(self, steps: tuple[Instance, ...]) -> tuple[Instance, ...]:
        """The run from the initial state that steps between classes stand for."""
        if self._symmetry is None:
            return steps
        return self._symmetry.concrete(tuple(self._start), steps)

    def _path(self, state: int) -> tuple[Instance, ...]:
        """The steps from the initial state to the state with the given number."""
        ends = list(itertools.accumulate(len(links) for links in self._links))
        steps = []
        while state:
            piece = bisect_right(ends, state)
            link = int(self._links[piece][state - ends[piece]])
            steps.append(self.model.instances[link & ((1 << _INSTANCE_BITS) - 1)])
            state = link >> _INSTANCE_BITS
        return tuple(reversed(steps))


def _batches(pieces: list[Words], size: int) -> Iterator[Words]:
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
