"""Histories: what a rule was from which release of the modelled system on.

A rule that came as a fix of several lines at once counts in each from its first release there: what
3.9.1, 4.0.1 and 4.1.0 have, 3.9.2 has and 4.0.0 has not.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from model.language.errors import ProtocolError

Version = tuple[int, ...]

_NUMBERS = 4  # of a version, as Kafka had them up to 0.11.0.3


def version_of(text: str) -> Version:
    """The four numbers of a version such as `3.9.1`; `ValueError` for what is none."""
    parts = text.split(".")
    if len(parts) > _NUMBERS or not all(part.isascii() and part.isdecimal() for part in parts):
        raise ValueError(f"{text} is no version")
    return tuple(int(part) for part in [*parts, "0", "0", "0"][:_NUMBERS])


def series_of(version: Version) -> Version:
    """The line that a release belongs to: 3.9, and before 1.0 three numbers, 0.11.0."""
    return version[: 2 if version[0] else 3]


def has(version: Version, since: tuple[Version, ...]) -> bool:
    """Whether a release has what is in each of these, the last of them and all after it."""
    return version >= since[-1] or any(
        version >= first and series_of(version) == series_of(first) for first in since
    )


@dataclass(frozen=True)
class History:
    """What a rule was, oldest first: `false 0.8.2, true 2.0.1 2.1.0`, each from these releases on.

    The first release stands for all before it. `evidence` is how that is known.
    """

    text: str
    evidence: str = ""

    def __post_init__(self) -> None:
        try:
            first = [min(since) for _, since in self.values]
        except ValueError:
            first = []
        if not first or first != sorted(set(first)):
            raise ProtocolError(
                f"{self.text!r} is no history: write values, oldest first, each with the releases "
                "that it came with, as in 'false 0.8.2, true 2.0.1 2.1.0'"
            )

    @cached_property
    def firsts(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Each value with its first release of each line, as they are written."""
        parts = (part.split() for part in self.text.split(", "))
        return tuple((value, tuple(since)) for value, *since in parts)

    @cached_property
    def values(self) -> tuple[tuple[str, tuple[Version, ...]], ...]:
        """Each value with its first release of each line, as numbers."""
        return tuple((value, tuple(map(version_of, since))) for value, since in self.firsts)

    @property
    def newest(self) -> str:
        """What it is now."""
        return self.firsts[-1][0]

    def value(self, version: Version) -> str:
        """What a release has: the last of the values that have come by then, or else the first."""
        come = [value for value, since in self.values if has(version, since)]
        return come[-1] if come else self.values[0][0]

    def since(self, value: str) -> str:
        """The release with which a value came last; empty, where none has it."""
        return next((since[0] for held, since in reversed(self.firsts) if held == value), "")

    def releases_with(self, value: str) -> str:
        """Which have a value, by the first of a line: `since 3.7.0`, `before 3.8.0`; or none."""
        firsts = [since[0] for _, since in self.firsts]
        spans = []
        for place, (held, _) in enumerate(self.firsts):
            ends = f"before {firsts[place + 1]}" if place + 1 < len(firsts) else ""
            begins = f"since {firsts[place]}" if place or not ends else ""
            if held == value:
                spans.append(", ".join(filter(None, (begins, ends))))
        return " and ".join(spans)
