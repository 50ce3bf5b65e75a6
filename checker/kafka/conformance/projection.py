"""What is compared of a model, a row for each variable: what Kafka shows, as numbers.

A cell for which Kafka has nothing is not compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from checker.core.engines.layout import Layout, Words
from checker.core.engines.reference import ReferenceEngine
from checker.core.engines.vectorised import Claims
from checker.kafka.conformance.compared import compared_with
from checker.kafka.conformance.rows import NOTHING, Contains, Numbers, Row
from model.language import Model

Index = tuple[int, ...]
Truths = Iterator[npt.NDArray[np.bool_]]


class Projection:
    """What is compared of one model on one release, in a fixed order: each row and its index."""

    def __init__(self, model: Model, version: str) -> None:
        self.model = model
        found = [
            (row, index, position)
            for row in compared_with(model).rows(model, version)
            for index, position in _numbers_of(model, row)
        ]
        self.rows = [(row, index) for row, index, _ in found]
        self._positions = [position for _, _, position in found]
        self._layout = Layout(model)
        self._bits = [
            partial(_has, row.contains, index[0], member)
            for row, index in self.rows
            if row.contains is not None
            for member in range(model.bounds[row.of])
        ]

    @property
    def wanted(self) -> list[list[str | int]]:
        """What the harness is asked for: each cell's reader and index."""
        return [[row.name, *index] for row, index in self.rows]

    def label(self, column: int) -> str:
        """The name of a compared cell, for reports."""
        row, index = self.rows[column]
        return row.name + "".join(f"[{i}]" for i in index)

    def of_packed(self, words: Words) -> Numbers:
        """The compared numbers of packed states: an array (states, cells)."""
        return self._of(partial(self._layout.column, words), iter(self._claims(words)))

    def of_states(self, states: Sequence[Sequence[int]]) -> Numbers:
        """The same of states given as numbers, one a cell of the model, of other settings too."""
        table = np.array(states, np.int64)
        reference = ReferenceEngine(self.model)
        truths = (np.array([reference.holds(b, tuple(s)) for s in states]) for b in self._bits)
        return self._of(lambda position: table[:, position], truths)

    @cached_property
    def _claims(self) -> Claims:
        return Claims([self.model.ground_claim(bit) for bit in self._bits], self._layout)

    def _of(self, column: Callable[[int], npt.NDArray[Any]], truths: Truths) -> Numbers:
        numbers = [
            _mask(truths, self.model.bounds[row.of]) if position is None else column(position)
            for (row, _), position in zip(self.rows, self._positions, strict=True)
        ]
        return np.stack(numbers, axis=1)


def _has(contains: Contains, of: int, member: int, state: Any) -> bool:
    return contains(state, of, member)


def _mask(truths: Truths, members: int) -> Numbers:
    """The next truths as the bits of one number, the first the lowest."""
    bits = [truth.astype(np.int64) << bit for bit, truth in enumerate(islice(truths, members))]
    mask: Numbers = np.bitwise_or.reduce(bits)
    return mask


def _numbers_of(model: Model, row: Row) -> Iterator[tuple[Index, int | None]]:
    """Each number of a row: its index, and its cell's position; `None`: it follows from several."""
    if row.contains is not None:
        yield from (((number,), None) for number in range(model.bounds[row.of]))
        return
    for cell in model.cells:
        if cell.variable.name == row.variable:
            yield tuple(cell.index), cell.position


def differing(expected: Numbers, found: Numbers) -> npt.NDArray[np.bool_]:
    """Where Kafka's numbers are not the model's; arrays of the same shape."""
    result: npt.NDArray[np.bool_] = (expected != found) & (found != NOTHING)
    return result
