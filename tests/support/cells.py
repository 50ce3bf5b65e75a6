"""Cells without a protocol: enough of a model to pack states and to run ground expressions on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from checker.core.engines.layout import Layout
from model.language.declare.domains import Booleans, Integers, limit
from model.language.declare.variables import Variable
from model.language.protocol import Cell, Model

Range = tuple[int, int]


@dataclass(frozen=True)
class CellsOnly:
    """All of a model that packing needs."""

    cells: tuple[Cell, ...]


def layout_of(*ranges: Range | type[bool]) -> Layout:
    """The layout of cells with the given least and greatest numbers, or `bool`."""
    cells = []
    for position, given in enumerate(ranges):
        if isinstance(given, tuple):
            low, high = given
            variable = Variable(("wide",), Integers(limit(low), limit(high)), low)
        else:
            low, high = 0, 1
            variable = Variable(("flag",), Booleans(), False)
        cells.append(Cell(position, variable, (position,), low, high))
    return Layout(cast(Model, CellsOnly(tuple(cells))))
