"""Where records are, and what consumers have read there: at one offset there is one record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Place(NamedTuple):
    """An offset of a partition."""

    topic: str
    partition: int
    offset: int

    def __str__(self) -> str:
        return f"offset {self.offset} of {self.topic}-{self.partition}"


class Readings:
    """What consumers without a group have read, the first time that they read anything there.

    `changed`: what one has read later where another record was read; by place, the two names.
    """

    def __init__(self) -> None:
        self._first: dict[Place, str] = {}
        self.changed: dict[Place, tuple[str, str]] = {}

    def hear(self, read: Mapping[Place, str]) -> None:
        """Take in what one consumer has read."""
        for place, name in read.items():
            first = self._first.setdefault(place, name)
            if first != name:
                self.changed[place] = first, name
