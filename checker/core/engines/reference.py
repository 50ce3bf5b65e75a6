"""The reference engine: runs the action functions themselves, on plain Python values.

Slow and plain, it is what a protocol *means*. It shares no code with capture, grounding or the
vectorised engine, so agreement with it is evidence for them.
"""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

from model.language.capture.words import Unmet, Witness
from model.language.cases import settings_in
from model.language.declare.containers import SetOf
from model.language.declare.domains import Booleans, IndexSet, Integers, Reference, Subset
from model.language.declare.entity import Entity
from model.language.declare.store import Part, Place, Store
from model.language.declare.variables import Variable
from model.language.errors import DomainError
from model.language.naming import cell_path, instance_words
from model.language.protocol import Instance, Model
from model.language.refusal import is_users

State = tuple[int, ...]
"""One number a cell, in the order of `Model.declared`."""

_SETS_KEPT = 1 << 12
"""So many values of a set are kept, those that were read last: there may be billions."""


class PlainSet(SetOf[Any]):
    """A set of members as plain data: the numbers of the members that are in it."""

    __slots__ = ("_all", "numbers")

    def __init__(self, numbers: frozenset[int], everyone: list[Entity]) -> None:
        self.numbers = numbers
        self._all = everyone

    def _like(self, numbers: frozenset[int]) -> PlainSet:
        return PlainSet(numbers, self._all)

    def contains(self, member: Any) -> bool:
        return member is not None and member._index[-1] in self.numbers

    def with_member(self, member: Any) -> PlainSet:
        return self if member is None else self._like(self.numbers | {member._index[-1]})

    def without_member(self, member: Any) -> PlainSet:
        return self if member is None else self._like(self.numbers - {member._index[-1]})

    def union(self, other: Any) -> PlainSet:
        return self._like(self.numbers | other.numbers)

    def intersection(self, other: Any) -> PlainSet:
        return self._like(self.numbers & other.numbers)

    def minus(self, other: Any) -> PlainSet:
        return self._like(self.numbers - other.numbers)

    def includes(self, other: Any) -> bool:
        return bool(other.numbers <= self.numbers)

    @property
    def is_empty(self) -> bool:
        return not self.numbers

    @property
    def size(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[Any]:
        return (self._all[number] for number in sorted(self.numbers))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PlainSet) and self.numbers == other.numbers

    def __hash__(self) -> int:
        return hash(self.numbers)

    def __repr__(self) -> str:
        return "{" + ", ".join(str(member) for member in self) + "}"


class PlainStore(Store):
    """The store behind views on one state, whose values actions may change in place."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.settings = model.settings
        self.values: list[Any] = []
        self._positions: dict[str, dict[tuple[int, ...], int]] = {}
        for (name, index), position in model.positions.items():
            self._positions.setdefault(name, {})[index] = position
        self._limits = {v.name: model.limits(v.domain) for v in model.schema.variables.values()}
        self._views: dict[tuple[int, tuple[int, ...]], Any] = {}
        self._blank = {cell.variable.name: cell.blank for cell in model.declared}
        self._extents = model.extents
        self.families = {
            name: [self.view(family.item, (k,)) for k in range(self._extents[name])]
            for name, family in model.schema.families.items()
        }
        self._decoders = {v.name: self._decoder(v) for v in model.schema.variables.values()}

    def _decoder(self, variable: Variable) -> Callable[[int], Any] | None:
        match variable.domain:
            case Integers(names=names):
                return names
            case Booleans():
                return bool
            case Reference(family):
                everyone = self.families[family]
                return lambda number: None if number < 0 else everyone[number]
            case Subset(family):
                everyone = self.families[family]

                @lru_cache(_SETS_KEPT)
                def members(mask: int) -> PlainSet:
                    numbers = (k for k in range(len(everyone)) if mask >> k & 1)
                    return PlainSet(frozenset(numbers), everyone)

                return members

    def read(self, variable: Variable, index: tuple[Any, ...]) -> Any:
        position = self._positions[variable.name].get(index)
        number = self._blank[variable.name] if position is None else self.values[position]
        decode = self._decoders[variable.name]
        return number if decode is None else decode(number)

    def write(self, variable: Variable, index: tuple[Any, ...], value: Any) -> None:
        position = self._position(variable, index)
        number = _encode(value)
        low, high = self._limits[variable.name]
        if not low <= number <= high:
            path = cell_path(self.model, self.model.declared[position])
            limits = f", here {low} to {high}" if isinstance(variable.domain, Integers) else ""
            raise DomainError(f"{path} cannot be {value!r}: valid is {variable.domain}{limits}")
        self.values[position] = number

    def reset(self, variable: Variable, index: tuple[Any, ...], where: Any) -> None:
        position = self._position(variable, index)
        if where:
            self.values[position] = self._blank[variable.name]

    def _position(self, variable: Variable, index: tuple[Any, ...]) -> int:
        position = self._positions[variable.name].get(index)
        if position is None:
            raise DomainError(f"{variable.name}{list(index)} is out of range, and is assigned")
        return position

    def erase_from(self, variable: Variable, index: tuple[Any, ...], first: Any) -> None:
        places = self._positions[variable.name]
        for position in range(max(first, 0), self._extents[variable.index[-1].name]):
            self.values[places[(*index, position)]] = self._blank[variable.name]

    def bound(self, name: str) -> int:
        return self.model.bound(name)

    def extent(self, index_set: IndexSet) -> int:
        return self._extents[index_set.name]

    def indices(self, index_set: IndexSet) -> Iterator[int]:
        return iter(range(self._extents[index_set.name]))

    def subset(self, index_set: IndexSet, members: tuple[Any, ...] | None) -> PlainSet:
        everyone = self.families[index_set.name]
        chosen = range(len(everyone)) if members is None else members
        return PlainSet(frozenset(chosen), everyone)

    def subset_where(self, index_set: IndexSet, condition: Any) -> PlainSet:
        everyone = self.families[index_set.name]
        chosen = frozenset(k for k, member in enumerate(everyone) if condition(member))
        return PlainSet(chosen, everyone)

    def view(self, schema: Part, index: tuple[Any, ...]) -> Any:
        key = (id(schema), index)
        found = self._views.get(key)
        if found is None:
            found = self._views[key] = schema.view_class(self, schema, index)
        return found

    def index_of(self, value: Any, index_set: IndexSet) -> int:
        return value._index[-1] if isinstance(value, Entity) else int(value)

    def plain_index(self, index: Any) -> Any:
        return index

    def same(self, left: Place, right: object) -> bool:
        return left is right or (
            isinstance(right, Entity)
            and left._schema is right._schema
            and left._index == right._index
        )

    def differs(self, left: Place, right: object) -> bool:
        return not self.same(left, right)


def _encode(value: Any) -> int:
    if value is None:
        return -1
    if isinstance(value, Entity):
        return cast(int, value._index[-1])
    if isinstance(value, PlainSet):
        return sum(1 << number for number in value.numbers)
    return int(value)


def _place(error: Exception, instance: Instance) -> str:
    """File and line of the last code beside the action's that ran before the error."""
    file = instance.action.function.__code__.co_filename
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == file]
    return f"{Path(file).name}:{lines[-1]}" if lines else instance.action.name


class ReferenceEngine:
    """Runs a model one state at a time. `through` gives what functions see for their settings."""

    def __init__(
        self, model: Model, through: Callable[[Any], Any] = lambda settings: settings
    ) -> None:
        self.model = model
        self._through = through
        self._before = PlainStore(model)
        self._after = PlainStore(model)
        self._root = self._before.view(model.schema.root, ())
        self._bound: dict[int, list[Any]] = {}

    def view(self, state: State) -> Any:
        """The state as the protocol's root record. Valid until the engine is used again."""
        (root,) = self._roots([state])
        return root

    def initial(self) -> State:
        """The initial state."""
        blank = tuple(cell.blank for cell in self.model.declared)
        root = self.view(blank)
        if self.model.protocol.start is not None:
            self.model.protocol.start(root)
        return tuple(self._before.values)

    def step(self, state: State, instance: Instance) -> State | None:
        """The state after the action; `None` if it is not enabled. Raises `DomainError`."""
        store = self._before
        store.values = list(state)
        try:
            self._run(instance)
        except Unmet:
            return None
        except DomainError as error:
            words = instance_words(self.model, instance)
            raise DomainError(f"{_place(error, instance)}: {words}: {error}") from error
        return tuple(store.values)

    def false_requirement(self, state: State, instance: Instance) -> tuple[str, int] | None:
        """File and line of the first requirement that is false; `None` if the step is enabled."""
        self._before.values = list(state)
        try:
            self._run(instance)
        except Unmet as unmet:
            frames = traceback.extract_tb(unmet.__traceback__)
            asked = next(frame for frame in reversed(frames) if is_users(frame.filename))
            return asked.filename, asked.lineno or 0
        return None

    def _run(self, instance: Instance) -> None:
        """Call the action's function, with the settings that it has in this state."""
        arguments = self._arguments(instance)
        cases = self.model.cases[instance.action.name]
        self._before.settings = self._through(settings_in(cases, self._root, arguments))
        instance.action.function(self._root, *arguments)

    def _arguments(self, instance: Instance) -> list[Any]:
        found = self._bound.get(instance.number)
        if found is None:
            families = self._before.families
            found = self._bound[instance.number] = [
                families[parameter.domain.family][argument]
                if isinstance(parameter.domain, Reference)
                else argument
                for parameter, argument in zip(instance.parameters, instance.arguments, strict=True)
            ]
        return found

    def successors(self, state: State) -> Iterator[tuple[Instance, State]]:
        """Every enabled action instance with the state it leads to, in order."""
        for instance in self.model.instances:
            after = self.step(state, instance)
            if after is not None:
                yield instance, after

    def holds(self, claim: Callable[..., bool], *states: State) -> bool:
        """Whether a claim is true of a state, or of a step given its two states."""
        return bool(claim(*self._roots(states)))

    def falsifying_values(
        self, claim: Callable[..., bool], *states: State
    ) -> dict[str, Any] | None:
        """For a claim that is false: the values of its quantified variables, and its states.

        `None` if it holds.
        """
        roots = self._roots(states)
        with Witness() as witness:
            holds = claim(*roots)
        names = inspect.signature(claim).parameters
        return None if holds else dict(zip(names, roots, strict=False)) | witness.values

    def words(self, state: State, instance: Instance) -> str:
        """The action in words, for a state that enables it."""
        self._before.values = list(state)
        names = [parameter.name for parameter in instance.parameters]
        return instance.action.words.format(
            **dict(zip(names, self._arguments(instance), strict=True))
        )

    def _roots(self, states: Iterable[State]) -> list[Any]:
        roots = []
        for store, state in zip((self._before, self._after), states, strict=False):
            store.values = list(state)
            store.settings = self._through(self.model.settings)
            roots.append(store.view(self.model.schema.root, ()))
        return roots
