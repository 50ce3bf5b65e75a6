"""What a search is asked, and when that is answered: one rule for every engine."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Protocol

from checker.core.search.limits import Limits
from properties import Property

DEFAULT_CHUNK = 32_768
DEFAULT_COMPILE_AFTER = 0.2


@dataclass(frozen=True)
class Options:
    """How a search runs. None changes what it finds; `symmetry` counts classes of states."""

    workers: int = 1
    chunk: int = 2 * DEFAULT_CHUNK  # states expanded at once, at most
    exact: bool = False
    keep_going: bool = False
    deadlock: bool = False
    symmetry: bool = False
    compile_after: float | None = DEFAULT_COMPILE_AFTER  # seconds of expanding; `None`: never
    cross_check: bool = True  # against the reference engine, on a sample


class Known(Protocol):
    """What is known when a level is whole, as far as the answer depends on it.

    `depth` is that of the last states, `frontier` how many of them are not expanded yet. `violated`
    and `reached` name properties; `deadlock` is none as long as every expanded state has a step.
    """

    @property
    def depth(self) -> int: ...

    @property
    def frontier(self) -> int: ...

    @property
    def violated(self) -> Collection[str]: ...

    @property
    def reached(self) -> Collection[str]: ...

    @property
    def deadlock(self) -> object: ...


@dataclass(frozen=True)
class Question:
    """Which properties hold, how far to look, and what else to look for."""

    properties: tuple[Property, ...]
    limits: Limits = field(default_factory=Limits)
    options: Options = field(default_factory=Options)

    def is_answered(self, known: Known) -> bool:
        """There is nothing more to visit, or nothing more to find, or the depth limit is reached.

        With `keep_going` a violation ends the search only when nothing that was asked for is open.
        """
        if not known.frontier:
            return True
        if self.limits.depth is not None and known.depth >= self.limits.depth:
            return True
        if not self.options.keep_going:
            return bool(known.violated) or known.deadlock is not None
        settled = {*known.violated, *known.reached}
        stuck = known.deadlock is not None or not self.options.deadlock
        return (
            bool(known.violated) and stuck and all(prop.name in settled for prop in self.properties)
        )
