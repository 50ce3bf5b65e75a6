"""Records and entities: how a protocol declares its state, and the views that actions work on.

A class body with annotated attributes *is* the declaration: annotations are domains, values are
initial values. An instance is never the state itself but a *view* of a place in it.
"""

from __future__ import annotations

import inspect
from typing import Any, ClassVar, cast

from model.language.declare.domains import Bound
from model.language.declare.names import local_names
from model.language.declare.store import Place
from model.language.errors import ProtocolError
from model.language.refusal import refuse_hashing, refuse_text


class Field:
    """The descriptor that turns an annotated attribute into reads and writes of the store."""

    __slots__ = ("initial", "name")

    def __init__(self, name: str, initial: Any) -> None:
        self.name = name
        self.initial = initial

    def __get__(self, record: Record | None, owner: type | None = None) -> Any:
        if record is None:
            return self
        return record._schema.fields[self.name].get(record._store, record._index)

    def __set__(self, record: Record, value: Any) -> None:
        record._schema.fields[self.name].set(record._store, record._index, value)


class Record(Place):
    """A group of variables that belong together, such as one entry of a log.

    Subclasses declare variables as annotated attributes with initial values, and may add methods
    and properties that read or assign them.
    """

    __slots__ = ()
    _declared: ClassVar[dict[str, Field]] = {}
    _local_names: ClassVar[dict[str, Any]] = {}
    _words = "a record, member or row"
    _instead: ClassVar[dict[str, str]] = {"truth": "is_none(...), or a variable of it"}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        declared = dict(cls._declared)
        for name in inspect.get_annotations(cls):
            if name.startswith("_"):
                continue
            if name not in cls.__dict__:
                raise ProtocolError(f"{cls.__name__}.{name} has no initial value: write `= ...`")
            declared[name] = Field(name, cls.__dict__[name])
            setattr(cls, name, declared[name])
        cls._declared = declared
        cls._local_names = {**local_names(), cls.__name__: cls}

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._declared and name not in Place.__slots__:
            valid = ", ".join(self._declared) or "none"
            raise ProtocolError(f"{type(self).__name__} has no variable {name!r}; it has {valid}")
        object.__setattr__(self, name, value)

    @classmethod
    def part(cls) -> Any:
        """Declares a record as a part of another: `quorum: Quorum = Quorum.part()`."""
        return cls

    def copy_from(self, other: Record) -> None:
        """Assign every variable of `other`, a record with the same variables, to this one."""
        for name in self._declared:
            setattr(self, name, getattr(other, name))

    def reset(self, where: bool = True) -> None:
        """Where the condition holds, assign every variable its initial value."""
        for name in self._declared:
            self._schema.fields[name].reset(self._store, self._index, where)


class Entity(Record):
    """A member of a family (`Members`) or a row of a `Table`: a record that has an identity."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return cast(bool, self._store.same(self, other))

    def __ne__(self, other: object) -> bool:
        return cast(bool, self._store.differs(self, other))

    def __hash__(self) -> int:
        if self._store.symbolic:
            refuse_hashing()
        return hash((type(self), self._index))

    @property
    def number(self) -> int:
        """The row's number in its table, counted from 0."""
        if self._schema.index[-1].symmetric:
            raise ProtocolError(f"a {type(self).__name__} has no number: compare members with ==")
        return cast(int, self._store.plain_index(self._index[-1]))

    def _reference_node(self) -> Any:
        return self._index[-1]

    def __repr__(self) -> str:
        refuse_text()
        label = getattr(type(self), "_label", self._schema.index[-1].name + " ")
        return f"{label}{self._index[-1]}"


class State(Record):
    """The root record of a protocol's state: everything that there is."""

    __slots__ = ()

    @property
    def settings(self) -> Any:
        """The protocol's settings: plain values, alike in every state but by `Protocol.cases`."""
        return self._store.settings

    def bound(self, bound: str | Bound) -> int:
        """The value of one of the protocol's bounds, by name or as it is declared."""
        return cast(int, self._store.bound(bound if isinstance(bound, str) else bound.name))
