"""Members that are to be kept in a part of a state: who shows what, and how many these are."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Flag

from model.language import graph
from model.language.graph import Node


class Want(Flag):
    """What an expression's value in the part has to be, compared with its value in the whole."""

    UP = 1
    DOWN = 2
    SAME = 3

    @property
    def turned(self) -> Want:
        """The same of what becomes less as the expression becomes more."""
        return {Want.UP: Want.DOWN, Want.DOWN: Want.UP, Want.SAME: Want.SAME}[self]


class RefusedError(Exception):
    """No bounded number of members does for an expression."""

    def __init__(self, node: Node, why: str) -> None:
        super().__init__(f"{why}: {graph.show(node)}")
        self.node, self.why = node, why


Loop = tuple[Node, int]
"""A variable, and how many values of it are gone through one by one."""


@dataclass(frozen=True)
class Witness:
    """Members that show something: what, of whom, and one for all that each loop goes through."""

    of: tuple[object, ...]
    loops: frozenset[Loop]

    @property
    def count(self) -> int:
        """How many members these are at most."""
        return math.prod(size for _, size in self.loops)


@dataclass(frozen=True)
class Need:
    """Members to keep: witnesses, those of one thing counted once, and `more`."""

    witnesses: frozenset[Witness] = frozenset()
    more: int = 0

    def __add__(self, other: Need) -> Need:
        return Need(self.witnesses | other.witnesses, self.more + other.more)

    @property
    def count(self) -> int:
        """How many members these are at most."""
        return sum(witness.count for witness in self.witnesses) + self.more


NOBODY = Need()


def all_of(needs: Iterable[Need]) -> Need:
    """What all of them need."""
    return sum(needs, NOBODY)


def any_of(needs: Iterable[Need], loops: frozenset[Loop] = frozenset()) -> Need:
    """What one of them needs, whichever that is; in each round of the loops it may be another."""
    found = [need for need in needs if need != NOBODY]
    once = frozenset(w for need in found for w in need.witnesses if not w.loops >= loops)
    each = [Need(need.witnesses - once, need.more) for need in found]
    if not each:
        return NOBODY
    shared = frozenset.intersection(*(need.witnesses for need in each))
    most = max(Need(need.witnesses - shared, need.more).count for need in each)
    return Need(once | shared, most)


@dataclass(frozen=True)
class Known:
    """What a variable in scope stands for: whoever shows `of`, in each round of the loops."""

    loops: frozenset[Loop]
    of: tuple[object, ...] = ()


@dataclass(frozen=True)
class Scope:
    """Where an expression stands: at which time, and below which variables.

    `every` are variables that stand for each member of the part. Parameters are not among the
    `known`: they stay the same.
    """

    time: object = 0
    core: int = 0
    every: frozenset[Node] = frozenset()
    known: Mapping[Node, Known] = field(default_factory=dict)

    def for_each(self, variable: Node) -> Scope:
        """Below a variable that stands for each member of the part."""
        return replace(self, every=self.every | {variable})

    def knowing(self, variable: Node, what: Known) -> Scope:
        """Below a variable that stands for something."""
        return replace(self, known={**self.known, variable: what})

    def loops(self, node: Node) -> frozenset[Loop]:
        """The loops in whose rounds an expression may have other values."""
        return frozenset().union(*(v.loops for v in self._free(node)))

    def shown_by(self, node: Node, loops: frozenset[Loop] = frozenset()) -> Witness:
        """Who shows what a node says."""
        of = tuple(variable.of for variable in self._free(node))
        return Witness((self.time, node, of), self.loops(node) | loops)

    def _free(self, node: Node) -> list[Known]:
        return [self.known[free] for free in node.parameters if free in self.known]
