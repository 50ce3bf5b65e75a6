"""How much the searches of one answer may cost together."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from checker.core.search.limits import Limits


@dataclass
class Allowance:
    """Seconds of all searches together, by the clock, and states of each.

    A part is spent once its `whole` is.
    """

    seconds: float
    states: int
    since: float = field(default_factory=time.perf_counter)
    whole: Allowance | None = None

    @property
    def left(self) -> float:
        """Seconds that are left, of the whole too if this is a part; not below 0."""
        own = max(0.0, self.seconds - (time.perf_counter() - self.since))
        return own if self.whole is None else min(own, self.whole.left)

    def part(self, of: int) -> Allowance:
        """The first of so many equal parts of what is left."""
        return Allowance(self.left / of, self.states, whole=self)

    def end(self) -> None:
        """Nothing more may be searched."""
        self.seconds = 0.0

    @property
    def limits(self) -> Limits:
        """The limits of the next search."""
        return Limits(states=self.states, seconds=self.left)
