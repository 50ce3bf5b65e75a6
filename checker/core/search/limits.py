"""Where a search stops, whatever it has found, and how far it is on the way."""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

INTERRUPTED = "interrupted"
"""Why a search stopped that the user has ended."""


def who_stopped(stopped: str) -> str:
    """Who or what ended a search, as it goes after "stopped by"."""
    return "the user" if stopped == INTERRUPTED else stopped


class Stop(Exception):  # noqa: N818  # an end, not an error
    """A limit, or the user, ends the search; the message says which."""


class Until(Protocol):
    """What says until when a search may go on together with what came before it."""

    @property
    def left(self) -> float:
        """Seconds that are left."""

    def check(self) -> None:
        """Raise `Stop` if it may not."""


@dataclass(frozen=True)
class Limits:
    """Where a search stops, whatever it has found: depth, states, seconds, bytes of memory.

    A search visits `states` states at most, and stops where it finds one more. Seconds count from
    where the search begins; `until` is asked as well, as often.
    """

    depth: int | None = None
    states: int | None = None
    seconds: float | None = None
    memory: int | None = None
    until: Until | None = None

    @property
    def out_of_states(self) -> Stop:
        """What ends a search that finds a state too many."""
        return Stop(f"the limit of {self.states:,} states")

    def check_states(self, states: int) -> None:
        """Raise `Stop` if so many states are too many."""
        if self.states is not None and states > self.states:
            raise self.out_of_states

    def check(self, seconds: float, memory: int) -> None:
        """Raise `Stop` if these amounts exceed a limit."""
        if self.until is not None:
            self.until.check()
        if self.seconds is not None and seconds > self.seconds:
            raise Stop(f"the limit of {self.seconds:g} seconds")
        if self.memory is not None and memory > self.memory:
            raise Stop(f"the limit of {memory_words(self.memory)} of memory")


def memory_words(size: int) -> str:
    """An amount of memory in words, never rounded to nothing."""
    return f"{size / 1e6:,.0f} MB" if size >= 1e6 else f"{size:,} bytes"


@dataclass(frozen=True)
class Progress:
    """Where a search is: the level being built, and totals so far."""

    depth: int
    expanded: int
    frontier: int
    states: int
    transitions: int
    seconds: float


def memory_bytes() -> int:
    """The memory that this process holds now."""
    import psutil  # takes a while, and few searches have such a limit

    return int(psutil.Process().memory_info().rss)


def peak_memory_bytes() -> int:
    """The most memory that this process has held so far; 0 where nothing tells it."""
    with suppress(OSError):  # getrusage counts what the process that started this one held
        for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    with suppress(ImportError):
        import resource  # a browser's Python has none

        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    return 0
