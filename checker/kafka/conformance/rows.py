"""A row of what is compared: a variable of a model, and where its value is in Kafka."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

NOTHING = -(2**31)
"""What Kafka answers where it has nothing that the cell could be compared with."""

Numbers = npt.NDArray[np.int64]
Column = Callable[[int], Numbers]
"""Of many states the numbers of the cell at a position."""

Columns = Callable[[Column], npt.NDArray[np.bool_]]
"""Which of many states are of a kind."""


@dataclass(frozen=True)
class Row:
    """A variable and where its value is in Kafka. `reading` tells two readings of one apart;
    `since` is the first release that has it."""

    variable: str
    read: str
    reading: str = ""
    since: str = "3.5.0"

    @property
    def name(self) -> str:
        """What the reader is called."""
        return f"{self.variable} by {self.reading}" if self.reading else self.variable


class Wanted(Protocol):
    """Whatever says which cells a process is asked for: each one's reader and index."""

    @property
    def wanted(self) -> list[list[str | int]]: ...
