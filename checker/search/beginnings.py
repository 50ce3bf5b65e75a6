"""States to begin runs from, spread over what a model can do, each with a run that leads there.

Runs that draw each step blindly see the same few states again and again, and what is rare needs
several rare steps in a row. So states are looked for beforehand, by a breadth-first search that
keeps a limited number of each level: as many different *profiles* as there are, evenly. A profile
says how many instances of each action are enabled; it is the same for states that differ by names
alone. Properties play no part in it. The model alone decides, so whoever has the model has the same
list. `docs/decisions/0064-guided-state-machines.md` has the measurements.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from checker.engines.layout import Words
from checker.engines.vectorised import VectorisedEngine
from checker.search.lineage import Lineage
from checker.search.visited_set import VisitedSet
from model.language.errors import DomainError
from model.language.protocol import Instance, Model

Places = npt.NDArray[np.int64]

KEPT = 2_500
"""How many states of a level are kept."""
LEVELS = 40


class Beginnings:
    """A list of states, the initial one first, as the runs that lead to them from there.

    Two searches are made: one that keeps states of rare profiles, and one that keeps half of its
    states whatever their profiles are. `kept` states a level at most, each.
    """

    def __init__(self, model: Model, kept: int = KEPT, levels: int = LEVELS) -> None:
        engine = VectorisedEngine(model)
        self._model = model
        self._searches = [
            _Search(engine, kept, levels, by_profile) for by_profile in (kept, kept // 2)
        ]

    def __len__(self) -> int:
        return sum(search.count for search in self._searches)

    def run(self, number: int) -> tuple[Instance, ...]:
        """The steps from the initial state to state `number`, counted from 0."""
        for search in self._searches:
            if number < search.count:
                return tuple(self._model.instances[k] for k in search.path(number))
            number -= search.count
        raise IndexError("there are fewer states to begin from")


class _Search:
    """A breadth-first search that keeps at most `kept` states a level, `by_profile` of them evenly
    by profile, the others drawn. Where a value does not fit, it ends: whoever runs on finds that.
    """

    def __init__(self, engine: VectorisedEngine, kept: int, levels: int, by_profile: int) -> None:
        self._lineage = Lineage(len(engine.model.instances))
        self._profiles = _Profiles(engine)
        self._random = np.random.default_rng(0)
        frontier = engine.layout.pack([engine.model.initial_state])
        visited = VisitedSet(engine.layout.words)
        visited.insert(frontier)
        self._lineage.begin_level()
        self._lineage.add(np.zeros(1, np.int64), np.zeros(1, np.uint16))
        self._ends = [1]
        for _ in range(levels):
            try:
                steps = engine.expand(frontier)
            except DomainError:
                break
            new = np.flatnonzero(visited.insert(steps.words))
            new = new[self._chosen(steps.words.take(new, axis=1), kept, by_profile)]
            if not len(new):
                break
            frontier = steps.words.take(new, axis=1)
            self._lineage.begin_level()
            self._lineage.add(steps.rows.take(new).astype(np.int64), steps.instances.take(new))
            self._ends.append(self._ends[-1] + len(new))

    @property
    def count(self) -> int:
        """How many states were kept."""
        return self._ends[-1]

    def path(self, number: int) -> list[int]:
        """The instances that lead to a state that was kept."""
        depth = int(np.searchsorted(self._ends, number, side="right"))
        return list(self._lineage.path(depth, number - (self._ends[depth - 1] if depth else 0)))

    def _chosen(self, words: Words, kept: int, by_profile: int) -> Places:
        """Which states to keep, in order."""
        count = words.shape[1]
        if count <= kept:
            return np.arange(count)
        order = self._random.permutation(count)
        evenly = order[_evenly(self._profiles(words)[order])[:by_profile]]
        left = np.ones(count, np.bool_)
        left[evenly] = False
        others = order[left[order]][: kept - len(evenly)]
        return np.sort(np.concatenate([evenly, others]))


def _evenly(kinds: Words) -> Places:
    """The places in an order that takes one of each kind, then a second of each, and so on."""
    by_kind = np.argsort(kinds, kind="stable")
    is_first = np.diff(kinds[by_kind], prepend=~kinds[by_kind[:1]]) != 0
    first = np.flatnonzero(is_first)
    turn = np.empty(len(kinds), np.int64)
    turn[by_kind] = np.arange(len(kinds)) - first[np.cumsum(is_first) - 1]
    return np.argsort(turn, kind="stable")


class _Profiles:
    """How many instances of each action states enable, as one number that is equal if they are."""

    def __init__(self, engine: VectorisedEngine) -> None:
        self._engine = engine
        names = [engine.model.instances[number].action.name for number in engine.instances]
        number = {name: place for place, name in enumerate(dict.fromkeys(names))}
        draw = np.random.default_rng(1)
        factors = draw.integers(1, 2**63, len(number), dtype=np.uint64)
        self._factors = [factors[number[name]] for name in names]

    def __call__(self, words: Words) -> Words:
        found = np.zeros(words.shape[1], np.uint64)
        enabled = self._engine.enabled(words).values()
        for factor, mask in zip(self._factors, enabled, strict=True):
            found += mask * factor
        return found
