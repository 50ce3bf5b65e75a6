"""What stands behind views of the state, and what it is asked for.

A store decides what a read returns: plain values in the reference engine, symbolic ones during
capture. The same action function therefore runs on both.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

from model.language.declare.domains import IndexSet
from model.language.declare.variables import Variable
from model.language.declare.view import View
from model.language.errors import ProtocolError
from model.language.refusal import refuse_text


class Store(ABC):
    """What stands behind views: one implementation holds values, the other builds expressions.

    An *index* is a tuple with one entry for each index set of the variable: numbers in a store of
    values, nodes of the graph in a store of expressions.
    """

    settings: Any
    symbolic = False

    @abstractmethod
    def read(self, variable: Variable, index: tuple[Any, ...]) -> Any:
        """The value of `variable` at `index`; its blank value where the index is out of range."""

    @abstractmethod
    def write(self, variable: Variable, index: tuple[Any, ...], value: Any) -> None:
        """Assign `value`; what it does out of range or domain is an error, never ignored."""

    @abstractmethod
    def reset(self, variable: Variable, index: tuple[Any, ...], where: Any) -> None:
        """Where the condition holds, assign the blank value; out of range as `write`."""

    @abstractmethod
    def erase_from(self, variable: Variable, index: tuple[Any, ...], first: Any) -> None:
        """Blank `variable` at `index + (position,)` for every position from `first` on."""

    @abstractmethod
    def bound(self, name: str) -> Any:
        """The value of one of the protocol's bounds."""

    @abstractmethod
    def extent(self, index_set: IndexSet) -> Any:
        """How many members or positions `index_set` has."""

    @abstractmethod
    def indices(self, index_set: IndexSet) -> Iterator[Any]:
        """Every index of `index_set`, in order (once, as a bound variable, during capture)."""

    @abstractmethod
    def subset(self, index_set: IndexSet, members: tuple[Any, ...] | None) -> Any:
        """The set of the members at the given indices; `None` means all of them."""

    @abstractmethod
    def subset_where(self, index_set: IndexSet, condition: Any) -> Any:
        """The set of the members whose view satisfies the function `condition`."""

    @abstractmethod
    def view(self, schema: Part, index: tuple[Any, ...]) -> Any:
        """The view of the part of the state that `schema` describes, at `index`."""

    @abstractmethod
    def index_of(self, value: Any, index_set: IndexSet) -> Any:
        """The index, in this store's terms, of a number or view that the user indexed with."""

    @abstractmethod
    def plain_index(self, index: Any) -> Any:
        """An index as a value that actions may compute with."""

    @abstractmethod
    def same(self, left: Place, right: object) -> Any:
        """Whether two views are of the same member."""

    @abstractmethod
    def differs(self, left: Place, right: object) -> Any:
        """Whether two views are not of the same member."""


class Part:
    """How one attribute of a record is read and assigned, or the members of a container are.

    `store` and `index` are those of the record.
    """

    kind: ClassVar[str]
    view_class: type[Place]

    def get(self, store: Store, index: tuple[Any, ...]) -> Any:
        """The attribute's value: a scalar, or a view of a larger part."""
        return store.view(self, index)

    def set(self, store: Store, index: tuple[Any, ...], value: Any) -> None:
        """Assign the attribute; only scalars can be."""
        raise ProtocolError(
            f"a whole {self.kind} cannot be assigned: assign its variables, or use copy_from"
        )

    def reset(self, store: Store, index: tuple[Any, ...], where: bool) -> None:
        """Where the condition holds, assign the attribute its initial value."""
        raise ProtocolError(f"a {self.kind} in a record cannot be reset: assign its variables")


class Place(View):
    """Where a view looks: a record or a container, and the store that knows its values."""

    __slots__ = ("_index", "_schema", "_store")

    _store: Store
    _schema: Any
    _index: tuple[Any, ...]

    def __init__(self, store: Store, schema: Part, index: tuple[Any, ...]) -> None:
        self._store = store
        self._schema = schema
        self._index = index

    def __repr__(self) -> str:
        refuse_text()
        return f"{type(self).__name__}{list(self._index)}"
