"""Domains: which values a state variable or a parameter may take, as declared by a protocol.

Limits may be written in terms of the protocol's *bounds* (such as the log size), so that one
declaration serves every size, and proofs that leave the sizes open.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Annotated, Any, get_args, get_origin

from model.language import graph
from model.language.errors import ProtocolError
from model.language.graph import BOOL, INT, Kind, Node, Op, Sort


@dataclass(frozen=True, eq=False)
class Bound:
    """A size that the user chooses when a protocol is checked.

    `LOG_SIZE + 1` and `LOG_SIZE - 1` may be used as limits of a domain. Two bounds are the same
    only if they were declared as one; `declared` is that one, of a bound `with_default`.
    """

    name: str
    default: int
    minimum: int
    words: str
    maximum: int = 16
    declared: Bound | None = field(default=None, repr=False)

    def __add__(self, offset: int) -> Limit:
        return Limit(self, offset)

    def __sub__(self, offset: int) -> Limit:
        return Limit(self, -offset)

    def with_default(self, default: int) -> Bound:
        """The same bound for a protocol in which another value is the default."""
        return replace(self, default=default, declared=self.declared or self)

    def is_same(self, other: Bound) -> bool:
        """Both are one declared bound, whatever their defaults."""
        return (self.declared or self) is (other.declared or other)


@dataclass(frozen=True)
class Limit:
    """A number, or a bound plus a number."""

    bound: Bound | None
    offset: int

    def at(self, bounds: Mapping[str, int]) -> int:
        """The limit's value under the given bounds."""
        return self.offset + (bounds[self.bound.name] if self.bound is not None else 0)

    @property
    def node(self) -> Node:
        """The limit as an expression, with the bound left open."""
        offset = graph.constant(self.offset)
        return offset if self.bound is None else graph.add(graph.bound(self.bound.name), offset)

    def __str__(self) -> str:
        if self.bound is None:
            return str(self.offset)
        sign = "+" if self.offset > 0 else "-"
        return self.bound.name + (f" {sign} {abs(self.offset)}" if self.offset else "")


def limit(value: int | Bound | Limit) -> Limit:
    """`value` as a `Limit`."""
    if isinstance(value, Limit):
        return value
    return value + 0 if isinstance(value, Bound) else Limit(None, value)


@dataclass(frozen=True)
class Integers:
    """The integers from `low` to `high`, both included; `names` gives them names, if they have.

    `none` is the one that stands for no number at all, if one does.
    """

    low: Limit
    high: Limit
    names: type[IntEnum] | None = None
    none: int | None = None
    sort = INT

    @property
    def limits(self) -> tuple[Limit, Limit]:
        """The least and the greatest of them."""
        return self.low, self.high

    def includes(self, value: Node) -> Node:
        """The expression that says that `value` is one of them."""
        return graph.conjunction(
            graph.at_most(self.low.node, value), graph.at_most(value, self.high.node)
        )

    def __str__(self) -> str:
        if self.names is not None:
            return ", ".join(member.name.lower() for member in self.names)
        return f"{self.low}..{self.high}"


def integers(
    low: int | Bound | Limit, high: int | Bound | Limit, none: int | None = None
) -> Integers:
    """The domain of the integers from `low` to `high`, both included.

    Use it as `Offset = Annotated[int, integers(0, LOG_SIZE)]`. `none` is the one that is shown as
    none, as in `integers(-1, MAX_EPOCH, none=-1)`.
    """
    return Integers(limit(low), limit(high), none=none)


@dataclass(frozen=True)
class Booleans:
    """False and true."""

    sort = BOOL

    def __str__(self) -> str:
        return "false or true"


@dataclass(frozen=True)
class Reference:
    """A member of the family called `family`, or none if `optional`."""

    family: str
    optional: bool = True

    @property
    def sort(self) -> Sort:
        """The sort of the references in the expression graph."""
        return Sort(Kind.REF, self.family)

    def __str__(self) -> str:
        return f"one of {self.family}" + (" or none" if self.optional else "")


@dataclass(frozen=True)
class Subset:
    """A set of members of the family called `family`."""

    family: str

    @property
    def sort(self) -> Sort:
        """The sort of the sets in the expression graph."""
        return Sort(Kind.SET, self.family)

    def __str__(self) -> str:
        return f"a subset of {self.family}"


Domain = Integers | Booleans | Reference | Subset


def names_of(domain: Domain) -> type[IntEnum] | None:
    """The enumeration that a domain's values are members of, if they are."""
    return domain.names if isinstance(domain, Integers) else None


@dataclass(frozen=True)
class IndexSet:
    """What a state variable is indexed by: the members of a family or the positions of a sequence.

    `symmetric` families have members that only their state tells apart: renaming them in a
    reachable state gives a state that behaves alike.
    """

    name: str
    size: Limit
    symmetric: bool = False

    def variable(self, name: str) -> Node:
        """A variable that ranges over the set: a reference where its members have no order."""
        sort = Sort(Kind.REF, self.name) if self.symmetric else INT
        return graph.variable(name, sort, self.name)

    def includes(self, index: Node) -> Node:
        """The expression that says that `index` is one of the set."""
        if self.symmetric:
            return graph.negation(graph.equal(index, graph.constant(graph.NONE, index.sort)))
        return graph.conjunction(
            graph.at_most(graph.constant(0), index), graph.less(index, self.size.node)
        )

    def admits(self, index: Node) -> Node:
        """The same for an index in a formula, where a variable over the set always is one of it."""
        always = index.op is Op.VARIABLE and index.data[1] == self.name
        return graph.TRUE if always else self.includes(index)


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
