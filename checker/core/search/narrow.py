"""Narrow search: breadth first, with a limited number of states kept of each level.

It goes deep where a search of everything cannot, and where walks would see the same few states
again and again. As many different *profiles* are kept as there are, evenly, the others by lot. A
profile says how many instances of each action a state enables; it is the same for states that
differ by names alone. Properties play no part in it. Nothing found says nothing of what was not
kept. `docs/decisions/0040-stateful-testing.md` and `docs/hunting.md` have the measurements.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from checker.core.engines.layout import Words
from checker.core.engines.vectorised import Successors, VectorisedEngine
from checker.core.search.lineage import Lineage
from checker.core.search.visited_set import VisitedSet
from checker.core.search.watch import Watch
from model.language.protocol import Model

Places = npt.NDArray[np.int64]

_CHUNK = 8_192
"""States that are expanded at once."""


@dataclass(frozen=True)
class Width:
    """How many states of a level are kept, and how many of these evenly by profile.

    Of a level with more states than `told`, so many are drawn, and the profiles of no others told.
    """

    kept: int
    by_profile: int
    told: int | None = None


class NarrowSearch:
    """One search. `run` goes down level by level; `watch` looks at every state and step found.

    Where `is_cut` stays false nothing was left out: `is_whole` then says that it saw every state.
    """

    def __init__(
        self,
        engine: VectorisedEngine,
        width: Width,
        seed: int,
        *,
        watch: Watch | None = None,
        expand: Callable[[Words], Successors] | None = None,
        canonical: Callable[[Words], Words] = lambda words: words,
    ) -> None:
        self.width = width
        self.enabled = np.zeros(len(engine.model.instances), np.int64)
        self.states = 0
        self.is_cut = self.is_over = False
        self._lineage = Lineage(len(engine.model.instances))
        self._ends: list[int] = []
        self._start = engine.layout.pack([engine.model.initial_state])
        self._visited = VisitedSet(engine.layout.words)
        self._watch = watch
        self._expand = expand or engine.expand
        self._canonical = canonical
        self._factors = _factors(engine.model)
        self._random = np.random.default_rng(seed)

    @property
    def is_whole(self) -> bool:
        """Every reachable state was visited."""
        return self.is_over and not self.is_cut

    @property
    def count(self) -> int:
        """How many states were kept."""
        return self._ends[-1]

    @property
    def depth(self) -> int:
        """The depth of the last states that were kept."""
        return len(self._ends) - 1

    def run(self, levels: int, until: Callable[[], bool] = lambda: False) -> None:
        """Search so many levels, or to the end; it is asked often whether that is enough.

        Raises `DomainError` for a value that does not fit.
        """
        frontier = self._canonical(self._start)
        self._visited.insert(frontier)
        if self._watch is not None:
            self._watch.states(frontier, 0, lambda _: (-1, -1))
        self._keep(np.zeros(1, np.int64), np.zeros(1, np.uint16))
        for depth in range(1, levels + 1):
            found = self._level(frontier, depth, until)
            if found is None:
                return
            words, rows, instances = found
            if not words.shape[1]:
                self.is_over = True
                return
            chosen = self._chosen(words)
            self.is_cut |= len(chosen) < words.shape[1]
            frontier = words.take(chosen, axis=1)
            self._keep(rows.take(chosen), instances.take(chosen))

    def path(self, number: int) -> list[int]:
        """The instances that lead to a state that was kept, by its number among all of them."""
        depth = int(np.searchsorted(self._ends, number, side="right"))
        return self.way(depth, number - (self._ends[depth - 1] if depth else 0))

    def way(self, depth: int, place: int) -> list[int]:
        """The instances that lead to the state at a place of a level."""
        return list(self._lineage.path(depth, place))

    def _level(
        self, frontier: Words, depth: int, until: Callable[[], bool]
    ) -> tuple[Words, Places, npt.NDArray[np.uint16]] | None:
        """The new states that the steps from a level lead to, with these; none if stopped."""
        parts = []
        for first in range(0, frontier.shape[1], _CHUNK):
            if until():
                return None
            words = frontier[:, first : first + _CHUNK]
            steps = self._expand(words)
            self.enabled += np.bincount(steps.instances, minlength=len(self.enabled))
            new = self._look(words, steps, first, depth)
            parts.append(new)
        states, rows, instances = zip(*parts, strict=True)
        return np.concatenate(states, axis=1), np.concatenate(rows), np.concatenate(instances)

    def _look(
        self, words: Words, steps: Successors, first: int, depth: int
    ) -> tuple[Words, Places, npt.NDArray[np.uint16]]:
        after = self._canonical(steps.words)
        new = np.flatnonzero(self._visited.insert(after))
        rows, instances = steps.rows.take(new).astype(np.int64) + first, steps.instances.take(new)
        fresh = after.take(new, axis=1)
        self.states += len(new)
        if self._watch is not None:
            self._watch.steps(words, steps, depth, lambda row: first + row)
            self._watch.states(
                fresh, depth, lambda place: (int(rows[place]), int(instances[place]))
            )
        return fresh, rows, instances

    def _keep(self, rows: Places, instances: npt.NDArray[np.uint16]) -> None:
        self._lineage.begin_level()
        self._lineage.add(rows, instances)
        self._ends.append((self._ends[-1] if self._ends else 0) + len(rows))

    def _chosen(self, words: Words) -> Places:
        """Which states to keep, in order."""
        width, count = self.width, words.shape[1]
        if count <= width.kept:
            return np.arange(count)
        order = self._random.permutation(count)
        told = order[: width.told]
        evenly = told[evenly_by(self._profiles(words.take(told, axis=1)))[: width.by_profile]]
        left = np.ones(count, np.bool_)
        left[evenly] = False
        others = order[left[order]][: width.kept - len(evenly)]
        return np.sort(np.concatenate([evenly, others]))

    def _profiles(self, words: Words) -> Words:
        """How many instances of each action each state enables, as a number, equal if they are."""
        parts = []
        for first in range(0, words.shape[1], _CHUNK):
            some = words[:, first : first + _CHUNK]
            steps = self._expand(some)
            sums = np.zeros(steps.count + 1, np.uint64)
            np.cumsum(self._factors.take(steps.instances), out=sums[1:])
            cuts = np.searchsorted(steps.rows, np.arange(some.shape[1] + 1))
            parts.append(sums[cuts[1:]] - sums[cuts[:-1]])
        return np.concatenate(parts) if parts else np.empty(0, np.uint64)


def _factors(model: Model) -> Words:
    """A number for each instance, the same for all of one action."""
    names = [instance.action.name for instance in model.instances]
    number = {name: place for place, name in enumerate(dict.fromkeys(names))}
    draws = np.random.default_rng(1).integers(1, 2**63, len(number), dtype=np.uint64)
    return draws[[number[name] for name in names]]


def evenly_by(kinds: Words) -> Places:
    """The places in an order that takes one of each kind, then a second of each, and so on."""
    by_kind = np.argsort(kinds, kind="stable")
    is_first = np.diff(kinds[by_kind], prepend=~kinds[by_kind[:1]]) != 0
    first = np.flatnonzero(is_first)
    turn = np.empty(len(kinds), np.int64)
    turn[by_kind] = np.arange(len(kinds)) - first[np.cumsum(is_first) - 1]
    return np.argsort(turn, kind="stable")
