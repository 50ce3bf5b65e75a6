"""State variables: functions from indices to scalars (booleans, numbers, references, sets)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from model.language import graph
from model.language.declare.domains import Domain, IndexSet, Subset
from model.language.graph import Node, Sort

Path = tuple["str | IndexSet", ...]
"""The way to a part of the state: names of attributes, and index sets where one is to be chosen."""

EVERYBODY = "everybody"


def dotted(path: Path) -> str:
    """The attributes of a path, such as `replicas.log.epoch`."""
    return ".".join(part for part in path if isinstance(part, str))


def index_sets(path: Path) -> tuple[IndexSet, ...]:
    """The index sets of a path, in order."""
    return tuple(part for part in path if isinstance(part, IndexSet))


@dataclass(frozen=True, eq=False)
class Variable:
    """A state variable: a value of `domain` for every combination of its index sets' members.

    `initial` is the value everywhere at first: a boolean or a number, for a reference the member's
    or `NONE`, for a set 0 or `EVERYBODY`. It is also the *blank* value: what reads out of range
    give and erasing leaves.
    """

    path: Path
    domain: Domain
    initial: Any

    @cached_property
    def name(self) -> str:
        """The variable's name, such as `replicas.log.epoch`."""
        return dotted(self.path)

    @cached_property
    def index(self) -> tuple[IndexSet, ...]:
        """What the variable is indexed by."""
        return index_sets(self.path)

    @cached_property
    def sort(self) -> Sort:
        """The sort of the variable's values in the expression graph."""
        return self.domain.sort

    @cached_property
    def blank(self) -> Node:
        """The blank value as an expression, with sizes left open."""
        if isinstance(self.domain, Subset):
            build = graph.all_members if self.initial == EVERYBODY else graph.no_members
            return build(self.domain.family)
        return graph.constant(self.initial, self.sort)
