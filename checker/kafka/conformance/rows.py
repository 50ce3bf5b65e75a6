"""A row of what is compared: a variable of a model, and where its value is in Kafka."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

NOTHING = -(2**31)
"""What Kafka answers where it has nothing that the cell could be compared with."""

Numbers = npt.NDArray[np.int64]

Contains = Callable[[Any, int, int], bool]
"""Of a state, whether the set of the first number has the member of the second."""


@dataclass(frozen=True)
class Row:
    """A variable and where its value is in Kafka. `reading` tells two readings of one apart;
    `since` is the first release that has it. `contains`: it is no variable, but follows from
    several: for each of a bound's members, `of`, a set of members, as a mask."""

    variable: str
    read: str
    reading: str = ""
    since: str = "3.5.0"
    contains: Contains | None = None
    of: str = ""

    @property
    def name(self) -> str:
        """What the reader is called."""
        return f"{self.variable} by {self.reading}" if self.reading else self.variable


@dataclass(frozen=True)
class Wrong:
    """What is wrong for a setting, and what it needs to matter.

    `value` is empty for the other one. Walks are those of the wrong model, which Kafka cannot take;
    or, with `forbids`, those of the right one, which Kafka takes and the wrong model does not:
    where that allows less, or where the classes are told of the setting.

    `rare`: few walks differ, and the two models alone tell which, so no others are taken on Kafka.
    """

    value: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    bounds: Mapping[str, int] = field(default_factory=dict)
    forbids: bool = False
    rare: bool = False
    since: str = "3.5.0"


class Wanted(Protocol):
    """Whatever says which cells a process is asked for: each one's reader and index."""

    @property
    def wanted(self) -> list[list[str | int]]: ...
