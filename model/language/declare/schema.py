"""The schema: the variables that a protocol's state consists of, found by reading its declarations.

A `Variable` is a function from indices to scalars (booleans, numbers, references, sets). The record
classes form a tree over them; each node of the tree knows how to read or assign its part of a view.
"""

from __future__ import annotations

import inspect
import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Union, cast, get_args, get_origin

from model.language.declare import containers
from model.language.declare.domains import (
    Booleans,
    Domain,
    IndexSet,
    Integers,
    Reference,
    Subset,
    integer_domain,
    limit,
)
from model.language.declare.entity import Entity, Field, Record, State
from model.language.errors import ProtocolError
from model.language.graph import BOOL, INT, Kind, Sort

Index = tuple[Any, ...]


@dataclass(frozen=True)
class Variable:
    """A state variable: a value of `domain` for every combination of its index sets' members.

    `initial` is the value everywhere at first: a boolean, a number, `None`, or for sets "none" or
    "all". It is also the *blank* value: what reads out of range give and erasing leaves.
    """

    name: str
    index: tuple[IndexSet, ...]
    domain: Domain
    initial: Any

    @property
    def sort(self) -> Sort:
        """The sort of the variable's values in the expression graph."""
        return sort_of(self.domain)


def sort_of(domain: Domain) -> Sort:
    """The sort of a domain's values in the expression graph."""
    match domain:
        case Booleans():
            return BOOL
        case Integers():
            return INT
        case Reference(family):
            return Sort(Kind.REF, family)
        case Subset(family):
            return Sort(Kind.SET, family)


class Part:
    """How one attribute of a record is read and assigned."""

    def get(self, record: Record) -> Any:
        """The attribute's value: a scalar, or a view of a larger part."""
        raise NotImplementedError

    def set(self, record: Record, value: Any) -> None:
        """Assign the attribute; only scalars can be."""
        raise ProtocolError(
            f"a whole {type(self).__name__.removesuffix('Schema').lower()} cannot be assigned: "
            "assign its variables, or use copy_from"
        )


@dataclass(frozen=True)
class ScalarSchema(Part):
    """An attribute that is one variable."""

    variable: Variable

    def get(self, record: Record) -> Any:
        return record._store.read(self.variable, record._index)

    def set(self, record: Record, value: Any) -> None:
        record._store.write(self.variable, record._index, value)


@dataclass(eq=False)
class RecordSchema(Part):
    """A record class at a place in the state. `index` are the index sets on the way there."""

    record_class: type[Record]
    path: str
    index: tuple[IndexSet, ...]
    fields: dict[str, Part] = field(default_factory=dict)

    def get(self, record: Record) -> Any:
        return record._store.view(self, record._index)


@dataclass(frozen=True, eq=False)
class FamilySchema(Part):
    """A family or table: a record schema for its members, and what they are indexed by."""

    container: type[containers._Family[Any]]
    index_set: IndexSet
    record: RecordSchema

    def get(self, record: Record) -> Any:
        return self.container(record._store, self, record._index)


@dataclass(frozen=True, eq=False)
class PerMemberSchema(Part):
    """A variable with one more index: the members of a family."""

    variable: Variable
    index_set: IndexSet

    def get(self, record: Record) -> Any:
        return containers.PerMember(record._store, self, record._index)


@dataclass(frozen=True, eq=False)
class SequenceSchema(Part):
    """A sequence: its end, and the variables of its records, indexed by position."""

    container: type[containers.Sequence[Any]]
    end: Variable
    positions: IndexSet
    record: RecordSchema
    variables: tuple[Variable, ...]

    def get(self, record: Record) -> Any:
        return self.container(record._store, self, record._index)


class Schema:
    """Everything that a root record declares: its variables in order, its families, its tree."""

    def __init__(self, root_class: type[State]) -> None:
        self.variables: list[Variable] = []
        self.index_sets: dict[str, IndexSet] = {}
        self.families: dict[str, FamilySchema] = {}
        self._family_of: dict[type[Entity], str] = {}
        self._register_families(root_class)
        self.root = self._describe(root_class, "", ())

    def family_of(self, entity: type[Entity]) -> FamilySchema:
        """The family or table whose members are of the class `entity`."""
        if entity not in self._family_of:
            raise ProtocolError(f"no family or table of {entity.__name__} is declared in the state")
        return self.families[self._family_of[entity]]

    def variable(self, name: str) -> Variable:
        """The variable with the given name."""
        for candidate in self.variables:
            if candidate.name == name:
                return candidate
        raise KeyError(name)

    def domain_of(self, annotation: Any) -> Domain | None:
        """The domain of scalars that an annotation stands for, or `None` if it is not scalar."""
        if (integers := integer_domain(annotation)) is not None:
            return integers
        if annotation is bool:
            return Booleans()
        origin, args = get_origin(annotation), get_args(annotation)
        if origin in (Union, types.UnionType) and len(args) == 2 and type(None) in args:
            entity = next(arg for arg in args if arg is not type(None))
            return Reference(self._name_of_family(entity))
        if isinstance(annotation, type) and annotation in self._family_of:
            return Reference(self._family_of[annotation], optional=False)
        if origin is containers.SetOf:
            return Subset(self._name_of_family(args[0]))
        return None

    def _name_of_family(self, entity: Any) -> str:
        if entity not in self._family_of:
            raise ProtocolError(f"{entity!r} is not an entity of a family in the state")
        return self._family_of[entity]

    def _register_families(self, root_class: type[State]) -> None:
        for name, annotation in _hints(root_class).items():
            origin, args = get_origin(annotation), get_args(annotation)
            if origin not in (containers.Members, containers.Table):
                continue
            initial = root_class._declared[name].initial
            index_set = self._index_set(
                name, initial, origin.__name__, symmetric=origin is containers.Members
            )
            if args[0] in self._family_of:
                raise ProtocolError(f"two families of {args[0].__name__}: give each its own class")
            self._family_of[args[0]] = name
            record = RecordSchema(args[0], name, (index_set,))
            self.families[name] = FamilySchema(origin, index_set, record)

    def _index_set(self, name: str, initial: Any, kind: str, symmetric: bool = False) -> IndexSet:
        extent = getattr(initial, "extent", None)
        if extent is None:
            raise ProtocolError(f"{name} is a {kind}: write `= {kind.lower()}(size)` after it")
        return self.index_sets.setdefault(name, IndexSet(name, limit(extent), symmetric))

    def _describe(
        self, record_class: type[Record], path: str, index: tuple[IndexSet, ...]
    ) -> RecordSchema:
        schema = RecordSchema(record_class, path, index)
        self._fill(schema)
        return schema

    def _fill(self, schema: RecordSchema) -> None:
        hints = _hints(schema.record_class)
        for name, declared in schema.record_class._declared.items():
            path = f"{schema.path}.{name}" if schema.path else name
            schema.fields[name] = self._part(hints[name], declared, path, schema.index)

    def _part(
        self, annotation: Any, declared: Field, path: str, index: tuple[IndexSet, ...]
    ) -> Part:
        origin, args = get_origin(annotation), get_args(annotation)
        if origin in (containers.Members, containers.Table):
            if path not in self.families:
                raise ProtocolError(f"{path}: families and tables belong into the root record")
            family = self.families[path]
            self._fill(family.record)
            return family
        if (domain := self.domain_of(annotation)) is not None:
            return ScalarSchema(self._declare(path, index, domain, declared.initial))
        if origin is containers.PerMember:
            return self._per_member(args, declared, path, index)
        if isinstance(origin or annotation, type):
            kind = origin or annotation
            if issubclass(kind, containers.Sequence):
                return self._sequence(annotation, kind, declared, path, index)
            if issubclass(kind, Record):
                return self._describe(kind, path, index)
        raise ProtocolError(
            f"{path}: cannot use the annotation {annotation!r}: valid are bool, an IntEnum, "
            "Annotated[int, integers(...)], an entity or `Entity | None`, SetOf, PerMember, "
            "Sequence, Members, Table and subclasses of Record"
        )

    def _per_member(
        self, args: tuple[Any, ...], declared: Field, path: str, index: tuple[IndexSet, ...]
    ) -> Part:
        family = self.families[self._name_of_family(args[0])]
        domain = self.domain_of(args[1])
        initial = declared.initial
        if domain is None or not isinstance(initial, containers._Initial):
            raise ProtocolError(f"{path}: PerMember takes scalars; write `= for_each(initial)`")
        variable = self._declare(path, (*index, family.index_set), domain, initial.extent)
        return PerMemberSchema(variable, family.index_set)

    def _sequence(
        self,
        annotation: Any,
        kind: type[containers.Sequence[Any]],
        declared: Field,
        path: str,
        index: tuple[IndexSet, ...],
    ) -> Part:
        positions = self._index_set(f"{path}.positions", declared.initial, "sequence")
        end = self._declare(f"{path}.end", index, Integers(limit(0), positions.size), 0)
        before = len(self.variables)
        record = self._describe(_record_of(annotation, kind), path, (*index, positions))
        return SequenceSchema(kind, end, positions, record, tuple(self.variables[before:]))

    def _declare(
        self, path: str, index: tuple[IndexSet, ...], domain: Domain, initial: Any
    ) -> Variable:
        if isinstance(domain, Subset):
            if not isinstance(initial, containers._Initial):
                raise ProtocolError(f"{path}: a set's initial value is nobody() or everybody()")
            initial = "all" if initial is containers._EVERYBODY else "none"
        variable = Variable(path, index, domain, initial)
        self.variables.append(variable)
        return variable


def _record_of(annotation: Any, kind: type[Any]) -> type[Record]:
    """The record class of `Sequence[Entry]`, or of a subclass that fixes it."""
    for candidate in (annotation, *getattr(kind, "__orig_bases__", ())):
        if args := get_args(candidate):
            return cast("type[Record]", args[0])
    raise ProtocolError(f"{kind.__name__} does not say of what it is a sequence")


def _hints(record_class: type[Record]) -> dict[str, Any]:
    """The annotations of the declared attributes, with names resolved where they were written."""
    hints: dict[str, Any] = {}
    for base in reversed(record_class.__mro__):
        if issubclass(base, Record) and base._declared:
            names = {**vars(sys.modules[base.__module__]), **base._namespace}
            names[base.__name__] = base  # an entity that refers to itself, declared in a function
            for name, annotation in inspect.get_annotations(base).items():
                try:
                    hints[name] = _evaluate(annotation, names)
                except NameError as error:
                    raise ProtocolError(f"{base.__name__}.{name}: {error}") from error
    return {name: hints[name] for name in record_class._declared}


def _evaluate(annotation: Any, names: dict[str, Any]) -> Any:
    return eval(annotation, names) if isinstance(annotation, str) else annotation


def indices(sizes: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """All index tuples for index sets of the given sizes, the last index running fastest."""
    if not sizes:
        yield ()
        return
    for first in range(sizes[0]):
        for rest in indices(sizes[1:]):
            yield (first, *rest)
