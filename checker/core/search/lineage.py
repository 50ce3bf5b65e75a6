"""Where states came from: level by level the state before each, and the action instance between.

A state's place is its position in its level. Where numbers of a level are not its places, as in one
that workers of a cluster have built, both are kept.

The states of a level come in the order of the states before them, so how far one of these is from
the next takes a byte, as the instance does. Both are read again for a trace alone.
"""

from __future__ import annotations

import itertools
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from checker.core.engines.layout import Words
from checker.core.search.findings import Numbers
from checker.core.search.fingerprints import fingerprints
from checker.core.search.shelf import Shelf
from model.language.errors import UsageError

_INSTANCE_BITS = 16


@dataclass(frozen=True)
class StateRows:
    """States of one level with their links: `words` of shape (words, n), the others (n,).

    The states are in ascending order of their numbers. The initial state has the links -1.
    """

    words: Words
    numbers: Numbers
    parents: Numbers
    instances: npt.NDArray[np.int32]

    @property
    def count(self) -> int:
        """How many states there are."""
        return len(self.numbers)

    @cached_property
    def fingerprints(self) -> Words:
        """The fingerprint of each state."""
        return fingerprints(np.ascontiguousarray(self.words))

    def __getitem__(self, rows: Any) -> StateRows:
        return StateRows(
            self.words[:, rows], self.numbers[rows], self.parents[rows], self.instances[rows]
        )


class _Piece(NamedTuple):
    """States of a level in order: how many, the place of the first one's parent, and on the shelf
    how far each parent is from the one before, and the instances.
    """

    size: int
    first: int
    distances: int
    instances: int


class Lineage:
    """The links of all states that a search has found, in the order in which it found them."""

    def __init__(self, instances: int) -> None:
        if instances >= 1 << _INSTANCE_BITS:
            raise UsageError(
                f"{instances:,} action instances: at most {1 << _INSTANCE_BITS:,} are possible, "
                "so choose smaller bounds"
            )
        self._levels: list[list[_Piece]] = []
        self._shelf = Shelf()
        self._numbers: dict[int, Numbers] = {}

    def begin_level(self) -> None:
        """What is added from now on is one level deeper."""
        self._levels.append([])

    def add(
        self, parents: npt.NDArray[Any], instances: npt.NDArray[np.uint16], after: int = 0
    ) -> None:
        """Add states of the level, by the places of their parents, which `after` others precede."""
        if len(parents):
            shelf = self._shelf
            distances = shelf.put(np.diff(parents, prepend=parents[:1]))
            first = int(parents[0]) + after
            piece = _Piece(len(parents), first, distances, shelf.put(instances))
            self._levels[-1].append(piece)

    def _parents(self, piece: _Piece) -> Numbers:
        """The places of the parents of a piece's states."""
        distances = self._shelf.get(piece.distances)
        return np.cumsum(distances, dtype=np.int64) + piece.first

    def add_rows(self, rows: StateRows) -> None:
        """Add a whole level that an earlier run has found."""
        known = self._numbers.get(len(self._levels) - 1)
        parents = np.maximum(rows.parents, 0)
        self.begin_level()
        self.add(
            parents if known is None else np.searchsorted(known, parents),
            np.maximum(rows.instances, 0).astype(np.uint16),
        )
        if rows.count and rows.numbers[-1] >= rows.count:
            self._numbers[len(self._levels) - 1] = rows.numbers

    def number(self, depth: int, place: int) -> int:
        """The number of the state at a place of a level."""
        known = self._numbers.get(depth)
        return place if known is None else int(known[place])

    def last_links(self) -> tuple[Numbers, npt.NDArray[np.int32]]:
        """The parents, by their numbers, and the instances of the states of the last level."""
        depth = len(self._levels) - 1
        pieces = self._levels[depth]
        none = np.empty(0, np.int64)
        parents = np.concatenate([none, *map(self._parents, pieces)])
        each = [self._shelf.get(piece.instances) for piece in pieces]
        instances = np.concatenate([none, *each]).astype(np.int32)
        if depth == 0:
            return parents - 1, instances - 1
        known = self._numbers.get(depth - 1)
        return parents if known is None else known[parents], instances

    def path(self, depth: int, number: int) -> list[int]:
        """The action instances on the least trace to a state."""
        known = self._numbers.get(depth)
        place = number if known is None else int(np.searchsorted(known, number))
        steps = []
        for pieces in self._levels[depth:0:-1]:
            ends = list(itertools.accumulate(piece.size for piece in pieces))
            piece = pieces[which := bisect_right(ends, place)]
            within = place - (ends[which] - piece.size)
            steps.append(int(self._shelf.get(piece.instances)[within]))
            place = int(self._parents(piece)[within])
        return steps[::-1]
