"""How long a call of an agent's may take, and how much memory: a ceiling, below which each asks."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from checker.commands.common import seconds, size
from checker.core.search.limits import memory_words
from model.language.errors import UsageError

T = TypeVar("T", int, float)

SECONDS, MEMORY = "max_seconds", "max_memory"
"""How a call asks for less."""


@dataclass(frozen=True)
class CallLimits:
    """Seconds and bytes that a call may take."""

    seconds: float
    memory: int

    @property
    def of_time(self) -> str:
        """The limit of time, as it goes after "stopped by"."""
        return f"the limit of {self.seconds:g} seconds"

    @property
    def of_memory(self) -> str:
        """The limit of memory, as it goes after "stopped by"."""
        return f"the limit of {memory_words(self.memory)} of memory"

    @property
    def _memory(self) -> str:
        """As `--max-memory` reads it, never more than it is."""
        return f"{self.memory // 10**6}MB" if self.memory >= 10**6 else f"{self.memory}B"

    def schema(self) -> dict[str, dict[str, Any]]:
        """What a call may ask for, as JSON schema."""
        return {
            SECONDS: {
                "type": "number",
                "minimum": 0,
                "maximum": self.seconds,
                "default": self.seconds,
                "description": "end after this time, and say what is known",
            },
            MEMORY: {
                "type": "string",
                "default": self._memory,
                "description": f"stop at this much memory, such as 500MB: {self._memory} at most",
            },
        }

    def options(self, known: Collection[str]) -> list[str]:
        """The limits as options of a command, of those that it knows."""
        options = {
            SECONDS: f"--max-seconds={self.seconds:g}",
            MEMORY: f"--max-memory={self.memory}B",
        }
        return [option for name, option in options.items() if name in known]

    def asked(self, given: dict[str, Any]) -> CallLimits:
        """What a call asks for, taken out of its arguments; `UsageError` if that is more."""
        return CallLimits(
            _less(SECONDS, given.pop(SECONDS, None), seconds, self.seconds, f"{self.seconds:g}"),
            _less(MEMORY, given.pop(MEMORY, None), size, self.memory, self._memory),
        )


def _less(name: str, given: Any, read: Callable[[str], T], most: T, words: str) -> T:
    if given is None:
        return most
    try:
        found = read(str(given))
    except click.BadParameter as error:
        raise UsageError(f"Invalid value for {name}: {error.message}") from None
    if found > most:
        raise UsageError(f"{name} {given} is more than this server allows: at most {words}")
    return found
