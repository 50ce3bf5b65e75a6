"""Domains: which values a state variable or a parameter may take, as declared by a protocol.

Limits may be written in terms of the protocol's *bounds* (such as the log size), so that one
declaration serves every size, and proofs that leave the sizes open.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Annotated, Any, get_args, get_origin

from model.language.errors import ProtocolError


@dataclass(frozen=True)
class Bound:
    """A size that the user chooses when a protocol is checked.

    `LOG_SIZE + 1` and `LOG_SIZE - 1` may be used as limits of a domain.
    """

    name: str
    default: int
    minimum: int
    words: str
    maximum: int = 16

    def __add__(self, offset: int) -> Limit:
        return Limit(self.name, offset)

    def __sub__(self, offset: int) -> Limit:
        return Limit(self.name, -offset)


@dataclass(frozen=True)
class Limit:
    """A number, or a bound plus a number."""

    bound: str | None
    offset: int

    def at(self, bounds: Mapping[str, int]) -> int:
        """The limit's value under the given bounds."""
        return self.offset + (bounds[self.bound] if self.bound is not None else 0)

    def __str__(self) -> str:
        if self.bound is None:
            return str(self.offset)
        sign = "+" if self.offset > 0 else "-"
        return f"{self.bound} {sign} {abs(self.offset)}" if self.offset else self.bound


def limit(value: int | Bound | Limit) -> Limit:
    """`value` as a `Limit`."""
    if isinstance(value, Limit):
        return value
    return Limit(value.name, 0) if isinstance(value, Bound) else Limit(None, value)


@dataclass(frozen=True)
class Integers:
    """The integers from `low` to `high`, both included; `names` gives them names, if they have."""

    low: Limit
    high: Limit
    names: type[IntEnum] | None = None

    def __str__(self) -> str:
        if self.names is not None:
            return ", ".join(member.name.lower() for member in self.names)
        return f"{self.low}..{self.high}"


def integers(low: int | Bound | Limit, high: int | Bound | Limit) -> Integers:
    """The domain of the integers from `low` to `high`, both included.

    Use it as `Offset = Annotated[int, integers(0, LOG_SIZE)]`.
    """
    return Integers(limit(low), limit(high))


@dataclass(frozen=True)
class Booleans:
    """False and true."""

    def __str__(self) -> str:
        return "false or true"


@dataclass(frozen=True)
class Reference:
    """A member of the family called `family`, or none if `optional`."""

    family: str
    optional: bool = True

    def __str__(self) -> str:
        return f"one of {self.family}" + (" or none" if self.optional else "")


@dataclass(frozen=True)
class Subset:
    """A set of members of the family called `family`."""

    family: str

    def __str__(self) -> str:
        return f"a subset of {self.family}"


Domain = Integers | Booleans | Reference | Subset


@dataclass(frozen=True)
class IndexSet:
    """What a state variable is indexed by: the members of a family or the positions of a sequence.

    `symmetric` families have members that only their state tells apart: renaming them in a
    reachable state gives a state that behaves alike.
    """

    name: str
    size: Limit
    symmetric: bool = False


def integer_domain(annotation: Any) -> Integers | None:
    """The domain of an `Annotated[int, ...]` or an `IntEnum`; `None` if it is neither."""
    if isinstance(annotation, type) and issubclass(annotation, IntEnum):
        if sorted(annotation) != list(range(min(annotation), max(annotation) + 1)):
            raise ProtocolError(f"{annotation.__name__} has gaps: number its members one by one")
        return Integers(limit(int(min(annotation))), limit(int(max(annotation))), annotation)
    if get_origin(annotation) is not Annotated:
        return None
    base, *extras = get_args(annotation)
    found = [extra for extra in extras if isinstance(extra, Integers)]
    return found[0] if base is int and found else None
