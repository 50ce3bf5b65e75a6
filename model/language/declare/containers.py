"""Containers that a protocol's state may have: families, tables, sets, sequences and the like.

They are views, like records: they hold no values and ask the store behind them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar, cast

from model.language.declare.domains import Bound, Limit
from model.language.declare.entity import Entity, Record
from model.language.declare.store import Place
from model.language.declare.view import View

E = TypeVar("E", bound=Entity)
R = TypeVar("R", bound=Record)
V = TypeVar("V")


class SetOf(View, Generic[E]):
    """A set of members of one family. Sets are values: methods return new ones.

    Iterating a set that was read from the state is for quantifiers (`every(... for m in group)`).
    """

    _words = "a set"
    _instead: ClassVar[dict[str, str]] = {
        "truth": "not_(group.is_empty)",
        "len()": "group.size",
        "`in`": "group.contains(member)",
    }

    @abstractmethod
    def contains(self, member: E) -> bool:
        """`member` is in the set."""

    @abstractmethod
    def with_member(self, member: E) -> SetOf[E]:
        """The set with `member` in it."""

    @abstractmethod
    def without_member(self, member: E) -> SetOf[E]:
        """The set with `member` not in it."""

    @abstractmethod
    def union(self, other: SetOf[E]) -> SetOf[E]:
        """The members of either set."""

    @abstractmethod
    def intersection(self, other: SetOf[E]) -> SetOf[E]:
        """The members of both sets."""

    @abstractmethod
    def minus(self, other: SetOf[E]) -> SetOf[E]:
        """The members of this set that are not in `other`."""

    @abstractmethod
    def includes(self, other: SetOf[E]) -> bool:
        """Every member of `other` is in this set."""

    @property
    @abstractmethod
    def is_empty(self) -> bool:
        """The set has no members."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many members the set has."""

    @abstractmethod
    def __iter__(self) -> Iterator[E]:
        """The members, in the family's order."""


@dataclass(frozen=True)
class Initial:
    """What stands for an initial value that is no scalar: the word for it, and its argument."""

    word: str
    value: Any = None


def nobody() -> Any:
    """Initial value of a `SetOf`: the empty set."""
    return Initial("nobody")


def everybody() -> Any:
    """Initial value of a `SetOf`: all members of the family."""
    return Initial("everybody")


def members(count: Bound) -> Any:
    """Declares a `Members` family with as many members as the bound says."""
    return Initial("members", count)


def table(rows: int | Bound | Limit) -> Any:
    """Declares a `Table` with the given number of rows."""
    return Initial("table", rows)


def sequence(at_most: int | Bound | Limit) -> Any:
    """Declares a `Sequence`, empty at first, of at most the given length."""
    return Initial("sequence", at_most)


def for_each(initial: V) -> Any:
    """Initial value of a `PerMember`: the same for every member."""
    return Initial("for_each", initial)


class Indexed(Place):
    """A container of one part for each index of an index set."""

    def _at(self, key: Any) -> tuple[Any, ...]:
        return (*self._index, self._store.index_of(key, self._schema.index_set))

    def _extent(self) -> int:
        return cast(int, self._store.extent(self._schema.index_set))


class Family(Indexed, Generic[E]):
    """Entities by member or by number."""

    _words = "a family or table"
    _instead: ClassVar[dict[str, str]] = {
        "truth": "members.count, or some(...)",
        "len()": "members.count",
        "`in`": "some(member == other for other in members)",
        "reversed()": "a plain `for`: its rounds have no order",
    }

    def __iter__(self) -> Iterator[E]:
        indices = self._store.indices(self._schema.index_set)
        return map(lambda index: self._view((*self._index, index)), indices)

    def _view(self, place: tuple[Any, ...]) -> E:
        return cast(E, self._store.view(self._schema.item, place))

    def __getitem__(self, key: Any) -> E:
        return self._view(self._at(key))

    @property
    def count(self) -> int:
        """How many members or rows there are."""
        return self._extent()


class Members(Family[E]):
    """A family of entities that differ only in their state, such as the replicas of a partition."""

    _instead: ClassVar[dict[str, str]] = {
        **Family._instead,
        "value": "members.all() for the set of all",
    }

    def none(self) -> SetOf[E]:
        """The empty set of members."""
        return cast("SetOf[E]", self._store.subset(self._schema.index_set, ()))

    def all(self) -> SetOf[E]:
        """The set of all members."""
        return cast("SetOf[E]", self._store.subset(self._schema.index_set, None))

    def only(self, member: E) -> SetOf[E]:
        """The set of one member."""
        index_set = self._schema.index_set
        index = self._store.index_of(member, index_set)
        return cast("SetOf[E]", self._store.subset(index_set, (index,)))

    def where(self, condition: Callable[[E], bool]) -> SetOf[E]:
        """The set of the members for which `condition(member)` holds."""
        return cast("SetOf[E]", self._store.subset_where(self._schema.index_set, condition))


def member_of(state: Record, family: str, number: int) -> Any:
    """The member of a family by its number, the family by its name."""
    return state._schema.fields[family].get(state._store, state._index)[number]


class Table(Family[E]):
    """Rows numbered from 0, such as the requests by epoch; `rows[number]` may be computed."""


class PerMember(Indexed, Generic[E, V]):
    """One value for each member of a family: `known_end[follower]`."""

    _words = "values by member"
    _instead: ClassVar[dict[str, str]] = dict.fromkeys(
        ("truth", "len()", "`in`", "iteration"),
        "a quantifier over the members, as in some(values[member] for member in members)",
    )

    def __getitem__(self, member: E) -> V:
        return cast(V, self._store.read(self._schema.item.variable, self._at(member)))

    def __setitem__(self, member: E, value: V) -> None:
        self._store.write(self._schema.item.variable, self._at(member), value)


class Positions(Indexed):
    """Every position of a sequence below its capacity, for quantifiers."""

    _words = "positions"
    _instead: ClassVar[dict[str, str]] = {"len()": "log.capacity"}

    def __iter__(self) -> Iterator[int]:
        return map(self._store.plain_index, self._store.indices(self._schema.index_set))


class Sequence(Indexed, Generic[R]):
    """Records at positions 0, 1, ... up to an end. Positions from the end on are blank."""

    _words = "a sequence"
    _instead: ClassVar[dict[str, str]] = {
        "truth": "not_(log.is_empty)",
        "len()": "log.end",
        "`in`": "some(all_of(log.has(p), log[p].tag == x) for p in log.positions)",
        "iteration": "every(implies(log.has(p), ...log[p]...) for p in log.positions)",
        "reversed()": "largest(choose(log.has(p), ...log[p]..., 0) for p in log.positions)",
    }

    @property
    def end(self) -> int:
        """How many records there are; the position that the next one takes."""
        return cast(int, self._store.read(self._schema.end, self._index))

    @property
    def capacity(self) -> int:
        """How many records there may be at most."""
        return self._extent()

    @property
    def positions(self) -> Positions:
        """Every position below the capacity, for quantifiers."""
        return Positions(self._store, self._schema, self._index)

    def has(self, position: int) -> bool:
        """A record is at `position`, which must not be negative."""
        return position < self.end

    @property
    def is_empty(self) -> bool:
        """There is no record."""
        return self.end == 0

    @property
    def is_full(self) -> bool:
        """There is no room for another record."""
        return self.end == self.capacity

    def __getitem__(self, position: int) -> R:
        """The record at `position`; blank where there is none."""
        return cast(R, self._store.view(self._schema.item, self._at(position)))

    def append(self, **values: Any) -> None:
        """Add a record with the given variables. Require first that there is room."""
        end = self.end
        entry = self[end]
        for name, value in values.items():
            setattr(entry, name, value)
        self._store.write(self._schema.end, self._index, end + 1)

    def append_copy(self, record: R) -> None:
        """Add a copy of `record`. Require first that there is room."""
        self.append(**{name: getattr(record, name) for name in record._declared})

    def extend_to(self, end: int) -> None:
        """Add blank records up to position `end`, which there must be room for."""
        self._store.write(self._schema.end, self._index, end)

    def truncate_to(self, end: int) -> None:
        """Remove the records from position `end` on, which must not be beyond the end."""
        for variable in self._schema.variables:
            self._store.erase_from(variable, self._index, end)
        self._store.write(self._schema.end, self._index, end)
