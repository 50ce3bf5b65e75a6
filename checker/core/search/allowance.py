"""Until when the work of one command or one answer may go on, whatever phase it is in.

One object, made where the work begins. Whoever works asks it: searches through their `Limits`, what
runs many of them directly. Ctrl-C ends it, and so ends whatever asks.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field

from checker.core.search.limits import INTERRUPTED, Limits, Stop


@dataclass
class Allowance:
    """Seconds of all phases together, by the clock, and states of each search.

    A part is spent once its `whole` is. `stopped` says what ended it before its time.
    """

    seconds: float = math.inf
    states: int | None = None
    since: float = field(default_factory=time.perf_counter)
    whole: Allowance | None = None
    stopped: str = ""

    @property
    def left(self) -> float:
        """Seconds that are left, of the whole too if this is a part; not below 0."""
        if self.stopped:
            return 0.0
        own = max(0.0, self.seconds - (time.perf_counter() - self.since))
        return own if self.whole is None else min(own, self.whole.left)

    @property
    def reason(self) -> str:
        """What ended it, or will: the user, or the limit that was given."""
        if self.whole is not None:
            return self.whole.reason
        return self.stopped or self.limit

    @property
    def limit(self) -> str:
        """The limit of time, in words."""
        return f"the limit of {self.seconds:g} seconds"

    def part(self, of: int) -> Allowance:
        """The first of so many equal parts of what is left."""
        return Allowance(self.left / of, self.states, whole=self)

    def end(self) -> None:
        """The user wants no more: nothing may be searched, and what is at work stops."""
        self.stopped = INTERRUPTED

    def check(self) -> None:
        """Raise `Stop` if nothing is left."""
        if not self.left:
            raise Stop(self.reason)

    @property
    def limits(self) -> Limits:
        """The limits of the next search."""
        return Limits(states=self.states, until=self)
