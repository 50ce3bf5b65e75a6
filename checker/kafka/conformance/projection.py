"""The cells of a model that are compared, a row for each variable: what Kafka shows, as numbers.

A cell for which Kafka has nothing is not compared.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from checker.core.engines.layout import Layout, Words
from checker.kafka.conformance.compared import compared_with
from checker.kafka.conformance.rows import NOTHING, Numbers
from model.language import Model
from model.language.protocol import Cell


class Projection:
    """The cells of one model that are compared on one release, in a fixed order."""

    def __init__(self, model: Model, version: str) -> None:
        self.model = model
        by_variable: dict[str, list[Cell]] = {}
        for cell in model.cells:
            by_variable.setdefault(cell.variable.name, []).append(cell)
        table = compared_with(model).rows(model, version)
        self.rows = [(row, cell) for row in table for cell in by_variable[row.variable]]
        self.cells = [cell for _, cell in self.rows]

    @property
    def wanted(self) -> list[list[str | int]]:
        """What the harness is asked for: each cell's reader and index."""
        return [[row.name, *cell.index] for row, cell in self.rows]

    def label(self, column: int) -> str:
        """The name of a compared cell, for reports."""
        row, cell = self.rows[column]
        return row.name + "".join(f"[{i}]" for i in cell.index)

    def of_packed(self, layout: Layout, words: Words) -> Numbers:
        """The compared numbers of packed states: an array (states, cells)."""
        positions = sorted({cell.position for cell in self.cells})
        columns = {position: layout.column(words, position) for position in positions}
        return np.stack([columns[cell.position] for cell in self.cells], axis=1)

    def of_states(self, states: Sequence[Sequence[int]]) -> Numbers:
        """The same of states given as numbers, one a cell of the model."""
        table = np.array(states, np.int64)
        return table[:, [cell.position for cell in self.cells]]


def differing(expected: Numbers, found: Numbers) -> npt.NDArray[np.bool_]:
    """Where Kafka's numbers are not the model's; arrays of the same shape."""
    result: npt.NDArray[np.bool_] = (expected != found) & (found != NOTHING)
    return result
