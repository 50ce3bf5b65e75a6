"""The schema: the variables that a protocol's state consists of, found by reading its declarations.

The record classes form a tree over the variables; each node of the tree knows how to read or assign
its part of a view.
"""

from __future__ import annotations

import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from typing import Any, Generic, TypeVar, Union, cast, get_args, get_origin

from model.language import graph
from model.language.declare import containers
from model.language.declare.domains import (
    Booleans,
    Domain,
    IndexSet,
    Integers,
    Limit,
    Reference,
    Subset,
    integer_domain,
    limit,
    names_of,
)
from model.language.declare.entity import Entity, Record, State
from model.language.declare.names import annotations_of, line_of_field
from model.language.declare.store import Part, Store
from model.language.declare.variables import EVERYBODY, Path, Variable, dotted, index_sets
from model.language.errors import ProtocolError, placed


@dataclass(frozen=True, eq=False)
class ScalarSchema(Part):
    """A part that is one variable."""

    variable: Variable

    def get(self, store: Store, index: tuple[Any, ...]) -> Any:
        return store.read(self.variable, index)

    def set(self, store: Store, index: tuple[Any, ...], value: Any) -> None:
        store.write(self.variable, index, value)

    def reset(self, store: Store, index: tuple[Any, ...], where: bool) -> None:
        store.reset(self.variable, index, where)


@dataclass(frozen=True, eq=False)
class RecordSchema(Part):
    """A record class at a place in the state, and the parts that are its attributes."""

    kind = "record"
    path: Path
    view_class: type[Record]
    fields: dict[str, Part] = field(default_factory=dict)

    def reset(self, store: Store, index: tuple[Any, ...], where: bool) -> None:
        self.get(store, index).reset(where)

    @cached_property
    def index(self) -> tuple[IndexSet, ...]:
        """What the record is indexed by."""
        return index_sets(self.path)


Item = TypeVar("Item", RecordSchema, ScalarSchema)


@dataclass(frozen=True, eq=False)
class IndexedSchema(Part, Generic[Item]):
    """A part for each index: the members of a family, the rows of a table, a scalar a member."""

    kind = "container"
    index_set: IndexSet
    item: Item
    view_class: type[containers.Indexed]


@dataclass(frozen=True, eq=False)
class SequenceSchema(IndexedSchema[RecordSchema]):
    """A sequence: records by position, the variables they consist of, and the sequence's end."""

    kind = "sequence"
    end: Variable
    variables: tuple[Variable, ...]


class Schema:
    """Everything that a root record declares: its variables in order, its families, its tree."""

    def __init__(self, root_class: type[State]) -> None:
        self.bounds: frozenset[str] = frozenset()  # the protocol's, by name
        self.named: dict[tuple[str, int], str] = {}  # members by number in what is captured: where
        self.kept: dict[str, dict[Any, Any]] = {}  # by what worked it out: it ends with the schema
        self.variables: dict[str, Variable] = {}
        self.index_sets: dict[str, IndexSet] = {}
        self.families: dict[str, IndexedSchema[RecordSchema]] = {}
        self._family_of: dict[type[Entity], str] = {}
        self._local_names = root_class._local_names
        self._register_families(root_class)
        self.root = RecordSchema((), root_class)
        self._fill(self.root)

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
        if isinstance(annotation, type) and issubclass(annotation, Entity):
            return Reference(self._name_of_family(annotation), optional=False)
        if origin is containers.SetOf:
            return Subset(self._name_of_family(args[0]))
        return None

    def limits(self) -> Iterator[Limit]:
        """Every limit that sizes and domains are given by."""
        for index_set in self.index_sets.values():
            yield index_set.size
        for variable in self.variables.values():
            if isinstance(variable.domain, Integers):
                yield from variable.domain.limits

    def _name_of_family(self, entity: Any) -> str:
        if entity not in self._family_of:
            raise ProtocolError(f"no family or table of {_called(entity)} is declared in the state")
        return self._family_of[entity]

    def _register_families(self, root_class: type[State]) -> None:
        for name, annotation in self._annotations(root_class).items():
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
            member = RecordSchema((name, index_set), args[0])
            self.families[name] = IndexedSchema(index_set, member, origin)

    def _annotations(self, record_class: type[Record]) -> dict[str, Any]:
        """The annotations of the declared attributes; they may name what the root's may."""
        found: dict[str, Any] = {}
        for base in reversed(record_class.__mro__):
            if issubclass(base, Record) and base._declared:
                names = self._local_names | base._local_names
                found |= annotations_of(base, names, base.__name__)
        return {name: found[name] for name in record_class._declared}

    def _index_set(self, name: str, initial: Any, kind: str, symmetric: bool = False) -> IndexSet:
        word = kind.lower()
        if not isinstance(initial, containers.Initial) or initial.word != word:
            raise ProtocolError(f"{name} is a {kind}: write `= {word}(size)` after it")
        return self.index_sets.setdefault(name, IndexSet(name, limit(initial.value), symmetric))

    def _fill(self, record: RecordSchema) -> RecordSchema:
        annotations = self._annotations(record.view_class)
        for name, declared in record.view_class._declared.items():
            path = (*record.path, name)
            try:
                record.fields[name] = self._part(annotations[name], declared.initial, path)
            except ProtocolError as error:
                raise placed(error, line_of_field(record.view_class, name)) from None
        return record

    def _part(self, annotation: Any, initial: Any, path: Path) -> Part:
        kind, args = get_origin(annotation) or annotation, get_args(annotation)
        if kind in (containers.Members, containers.Table):
            if dotted(path) not in self.families:
                raise ProtocolError(f"{dotted(path)}: a family or table belongs in the root record")
            family = self.families[dotted(path)]
            self._fill(family.item)
            return family
        if (domain := self.domain_of(annotation)) is not None:
            return ScalarSchema(self._declare(path, domain, initial))
        if kind is containers.PerMember:
            return self._per_member(args, initial, path)
        if isinstance(kind, type) and issubclass(kind, containers.Sequence):
            return self._sequence(_record_of(annotation, kind), kind, initial, path)
        if isinstance(kind, type) and issubclass(kind, Record):
            return self._fill(RecordSchema(path, kind))
        if annotation is int:
            raise ProtocolError(
                f"{dotted(path)}: an int needs limits: write Annotated[int, integers(0, 3)]"
            )
        raise ProtocolError(
            f"{dotted(path)}: cannot use the annotation {_called(annotation)}: valid are bool, an "
            "IntEnum, Annotated[int, integers(...)], an entity or `Entity | None`, SetOf, "
            "PerMember, Sequence, Members, Table and subclasses of Record"
        )

    def _per_member(self, args: tuple[Any, ...], initial: Any, path: Path) -> Part:
        index_set = self.index_sets[self._name_of_family(args[0])]
        domain = self.domain_of(args[1])
        if domain is None or getattr(initial, "word", "") != "for_each":
            raise ProtocolError(
                f"{dotted(path)}: PerMember takes scalars; write `= for_each(initial)`"
            )
        variable = self._declare((*path, index_set), domain, initial.value)
        return IndexedSchema(index_set, ScalarSchema(variable), containers.PerMember)

    def _sequence(
        self,
        record_class: type[Record],
        kind: type[containers.Sequence[Any]],
        initial: Any,
        path: Path,
    ) -> Part:
        positions = self._index_set(f"{dotted(path)}.positions", initial, "Sequence")
        end = self._declare((*path, "end"), Integers(limit(0), positions.size), 0)
        before = len(self.variables)
        record = self._fill(RecordSchema((*path, positions), record_class))
        variables = tuple(self.variables.values())[before:]
        return SequenceSchema(positions, record, kind, end, variables)

    def _declare(self, path: Path, domain: Domain, initial: Any) -> Variable:
        variable = Variable(path, domain, _initial(dotted(path), domain, initial))
        if variable.name in self.variables:
            raise ProtocolError(f"{variable.name} is declared twice: give one another name")
        self.variables[variable.name] = variable
        return variable


def _initial(name: str, domain: Domain, declared: Any) -> Any:
    """The initial value of a variable, as `Variable` has it."""
    if isinstance(domain, Subset):
        if declared not in (containers.nobody(), containers.everybody()):
            raise ProtocolError(f"{name}: a set's initial value is nobody() or everybody()")
        return EVERYBODY if declared == containers.everybody() else 0
    if declared is None and isinstance(domain, Reference) and domain.optional:
        return graph.NONE
    names = names_of(domain)
    is_other = names is not None and isinstance(declared, IntEnum) and type(declared) is not names
    if is_other or not isinstance(declared, int):
        raise ProtocolError(f"{name} cannot be {declared!r} at first: valid is {domain}")
    return bool(declared) if isinstance(domain, Booleans) else int(declared)


def _called(entity: Any) -> str:
    return entity.__name__ if isinstance(entity, type) else repr(entity)


def _record_of(annotation: Any, kind: type[Any]) -> type[Record]:
    """The record class of `Sequence[Entry]`, or of a subclass that fixes it."""
    for candidate in (annotation, *getattr(kind, "__orig_bases__", ())):
        if args := get_args(candidate):
            return cast("type[Record]", args[0])
    raise ProtocolError(f"{kind.__name__} does not say of what it is a sequence")
