"""What is compared of a model, a row for each variable: what Kafka shows, as numbers.

A cell for which Kafka has nothing is not compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial

import numpy as np
import numpy.typing as npt

from checker.core.engines.layout import Layout, Words
from checker.kafka.conformance.compared import compared_with
from checker.kafka.conformance.rows import NOTHING, Column, Numbers, Row
from model.language import Model

Index = tuple[int, ...]


class Projection:
    """What is compared of one model on one release, in a fixed order: each row and its index."""

    def __init__(self, model: Model, version: str) -> None:
        self.model = model
        found = [
            (row, index, of)
            for row in compared_with(model).rows(model, version)
            for index, of in _numbers_of(model, row)
        ]
        self.rows = [(row, index) for row, index, _ in found]
        self._numbers = [of for _, _, of in found]

    @property
    def wanted(self) -> list[list[str | int]]:
        """What the harness is asked for: each cell's reader and index."""
        return [[row.name, *index] for row, index in self.rows]

    def label(self, column: int) -> str:
        """The name of a compared cell, for reports."""
        row, index = self.rows[column]
        return row.name + "".join(f"[{i}]" for i in index)

    def of_packed(self, layout: Layout, words: Words) -> Numbers:
        """The compared numbers of packed states: an array (states, cells)."""
        return self._of(lambda position: layout.column(words, position))

    def of_states(self, states: Sequence[Sequence[int]]) -> Numbers:
        """The same of states given as numbers, one a cell of the model."""
        table = np.array(states, np.int64)
        return self._of(lambda position: table[:, position])

    def _of(self, column: Column) -> Numbers:
        once = cache(column)
        return np.stack([of(once) for of in self._numbers], axis=1)


def _numbers_of(model: Model, row: Row) -> Iterator[tuple[Index, Callable[[Column], Numbers]]]:
    """Each number of a row: its index, and how it is taken from the columns of states."""
    if row.worked_out is not None:
        for number, of in enumerate(row.worked_out(model)):
            yield (number,), of
        return
    for cell in model.cells:
        if cell.variable.name == row.variable:
            yield tuple(cell.index), partial(_column, cell.position)


def _column(position: int, column: Column) -> Numbers:
    return column(position)


def differing(expected: Numbers, found: Numbers) -> npt.NDArray[np.bool_]:
    """Where Kafka's numbers are not the model's; arrays of the same shape."""
    result: npt.NDArray[np.bool_] = (expected != found) & (found != NOTHING)
    return result
