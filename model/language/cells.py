"""Cells: what a state is once bounds are chosen, one number for each scalar of a schema.

All engines share their order: that of declaration, then of index.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from model.language.declare.domains import Booleans, Domain, IndexSet, Integers, Reference, Subset
from model.language.declare.schema import Schema
from model.language.declare.variables import EVERYBODY, Variable
from model.language.errors import ProtocolError, unknown_name

Index = tuple[int, ...]


@dataclass(frozen=True)
class Cell:
    """One scalar of a model's state: a variable at an index, and the range of its numbers.

    References are numbered by member, with -1 for none; sets are numbers with a bit a member.
    """

    position: int
    variable: Variable
    index: Index
    low: int
    high: int

    @property
    def name(self) -> str:
        """The cell's name, such as `replicas.high_watermark[2]`."""
        return self.variable.name + "".join(f"[{i}]" for i in self.index)

    @property
    def blank(self) -> int:
        """The number that stands here where nothing is."""
        initial = self.variable.initial
        return self.high if initial == EVERYBODY else int(initial)

    @property
    def path(self) -> list[str | tuple[IndexSet, int]]:
        """The way here: names of attributes, and indices with what they are an index of."""
        numbers = iter(self.index)
        return [
            (part, next(numbers)) if isinstance(part, IndexSet) else part
            for part in self.variable.path
        ]


@dataclass(frozen=True, eq=False)
class StateSpace:
    """A schema with its bounds chosen: the cells that every state consists of."""

    schema: Schema
    bounds: Mapping[str, int]

    def __post_init__(self) -> None:
        for name, extent in self.extents.items():
            if extent < 1:
                size = self.schema.index_sets[name].size
                raise ProtocolError(f"{name} is empty: let {size} be 1 or more")

    @cached_property
    def extents(self) -> dict[str, int]:
        """How many members, rows or positions each index set has, by name."""
        return {s.name: s.size.at(self.bounds) for s in self.schema.index_sets.values()}

    def bound(self, name: str) -> int:
        """The value of the bound called `name`; `UsageError` if there is none."""
        if name not in self.bounds:
            raise unknown_name("bound", name, self.bounds)
        return self.bounds[name]

    def limits(self, domain: Domain) -> tuple[int, int]:
        """The least and the greatest number that stands for a value of `domain`."""
        match domain:
            case Booleans():
                return 0, 1
            case Integers(low, high):
                return low.at(self.bounds), high.at(self.bounds)
            case Reference(family, optional):
                return -1 if optional else 0, self.extents[family] - 1
            case Subset(family):
                return 0, (1 << self.extents[family]) - 1

    @cached_property
    def unchanging(self) -> Mapping[str, int]:
        """The variables that are known to stay blank, with the number that stands for that."""
        return {}

    @cached_property
    def declared(self) -> tuple[Cell, ...]:
        """Every scalar of the state, in order of declaration, then of index."""
        found: list[Cell] = []
        for variable in self.schema.variables.values():
            low, high = self.limits(variable.domain)
            sizes = [self.extents[index_set.name] for index_set in variable.index]
            for index in itertools.product(*map(range, sizes)):
                found.append(Cell(len(found), variable, index, low, high))
            if not low <= found[-1].blank <= high:
                raise ProtocolError(
                    f"{variable.name} cannot be {variable.initial} at first: valid is "
                    f"{variable.domain}"
                )
        return tuple(found)

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """The same, where what stays blank has one number."""
        known = self.unchanging
        return tuple(
            replace(cell, low=known[name], high=known[name]) if name in known else cell
            for cell in self.declared
            for name in [cell.variable.name]
        )

    @cached_property
    def positions(self) -> dict[tuple[str, Index], int]:
        """The position of each cell by variable name and index."""
        return {(cell.variable.name, cell.index): cell.position for cell in self.declared}

    def cell(self, variable: Variable, index: Index) -> Cell:
        """The cell of `variable` at `index`, with the limits of its domain."""
        return self.declared[self.positions[variable.name, index]]

    def cells_below(self, variable: Variable, index: Index) -> Iterator[Cell]:
        """The cells of `variable` whose index begins with `index`."""
        sizes = [self.extents[index_set.name] for index_set in variable.index[len(index) :]]
        for rest in itertools.product(*map(range, sizes)):
            yield self.cell(variable, (*index, *rest))
