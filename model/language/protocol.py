"""Protocols and models: a model is a protocol with its sizes and settings chosen.

The words are TLA+'s: what one checks is a model of a protocol.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from model.language.action import Action
from model.language.capture import (
    CapturedAction,
    Parameter,
    capture_action,
    capture_property,
)
from model.language.declare.domains import (
    Booleans,
    Bound,
    Domain,
    IndexSet,
    Integers,
    Reference,
    Subset,
)
from model.language.declare.entity import State
from model.language.declare.schema import Schema, Variable, indices
from model.language.declare.settings import NoSettings, as_text, choose_settings
from model.language.errors import ProtocolError, UsageError, unknown_name
from model.language.graph import Node


@dataclass(frozen=True, eq=False)
class Protocol:
    """A protocol: its state, how it starts, what it may do, and what the user may choose.

    `start(state)` assigns what differs at first from the declared initial values. The order of
    `actions` is the order in which traces are compared. `presets` are named choices of settings.
    """

    name: str
    words: str
    state: type[State]
    actions: tuple[Action, ...]
    bounds: tuple[Bound, ...]
    settings: type = NoSettings
    start: Callable[[Any], None] | None = None
    source: str = ""
    presets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def variant(
        self,
        name: str,
        words: str,
        *replacements: Action,
        extra: tuple[Action, ...] = (),
        **changes: Any,
    ) -> Protocol:
        """This protocol with actions of the same names replaced, `extra` ones, other attributes."""
        by_name = {action.name: action for action in replacements}
        missing = by_name.keys() - {action.name for action in self.actions}
        if missing:
            raise ProtocolError(f"{self.name} has no action {sorted(missing)} to replace")
        kept = tuple(by_name.get(action.name, action) for action in self.actions)
        actions = kept + extra
        return dataclasses.replace(
            self, **({"name": name, "words": words, "actions": actions} | changes)
        )

    def model(
        self, bounds: Mapping[str, int] | None = None, settings: Mapping[str, Any] | None = None
    ) -> Model:
        """This protocol with the given bounds and settings; the rest at their defaults."""
        chosen = choose_settings(self.settings, settings or {})
        return Model(self, self._choose_bounds(bounds or {}), chosen)

    def preset(self, name: str) -> Mapping[str, Any]:
        """The settings of the preset called `name`, or `name` without the protocol's: `4.1`."""
        name = f"{self.name}-{name}" if f"{self.name}-{name}" in self.presets else name
        if name not in self.presets:
            if not self.presets:
                raise UsageError(f"no preset is called {name!r}: {self.name} has no presets")
            raise unknown_name(f"preset of {self.name}", name, self.presets)
        return self.presets[name]

    def _choose_bounds(self, given: Mapping[str, int]) -> dict[str, int]:
        declared = {bound.name: bound for bound in self.bounds}
        for name, value in given.items():
            if name not in declared:
                raise unknown_name(f"bound of {self.name}", name, declared)
            bound = declared[name]
            if not bound.minimum <= value <= bound.maximum:
                raise UsageError(
                    f"{name.replace('_', '-')} cannot be {value}: valid are {bound.minimum} to "
                    f"{bound.maximum} ({bound.words})"
                )
        return {name: given.get(name, bound.default) for name, bound in declared.items()}

    @cached_property
    def schema(self) -> Schema:
        """The variables that the state declares."""
        return Schema(self.state)


@dataclass(frozen=True)
class Cell:
    """One scalar of a model's state: a variable at an index, and the range of its numbers.

    References are numbered by member, with -1 for none; sets are numbers with a bit a member.
    """

    position: int
    variable: Variable
    index: tuple[int, ...]
    low: int
    high: int

    @property
    def name(self) -> str:
        """The cell's name, such as `replicas.high_watermark[2]`."""
        return self.variable.name + "".join(f"[{i}]" for i in self.index)


@dataclass(frozen=True)
class Instance:
    """An action with its parameters chosen: members and rows by number, numbers as they are."""

    number: int
    action: Action
    parameters: tuple[Parameter, ...]
    arguments: tuple[int, ...]

    @property
    def named_arguments(self) -> dict[str, int]:
        """The arguments by the names of the parameters."""
        return {p.name: a for p, a in zip(self.parameters, self.arguments, strict=True)}

    def __str__(self) -> str:
        inner = ", ".join(f"{name}={value}" for name, value in self.named_arguments.items())
        return f"{self.action.name}({inner})"


@dataclass(frozen=True, eq=False)
class Model:
    """A protocol with its bounds and settings chosen: what engines run.

    Its cells and action instances are numbered in a fixed order, which all engines share.
    """

    protocol: Protocol
    bounds: Mapping[str, int]
    settings: Any
    schema: Schema = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "schema", self.protocol.schema)
        for index_set in self.schema.index_sets.values():
            if self.extent(index_set) < 1:
                raise ProtocolError(f"{index_set.name} is empty: let {index_set.size} be 1 or more")

    def extent(self, index_set: IndexSet) -> int:
        """How many members, rows or positions `index_set` has under these bounds."""
        return index_set.size.at(self.bounds)

    def limits(self, domain: Domain) -> tuple[int, int]:
        """The least and the greatest number that stands for a value of `domain`."""
        match domain:
            case Booleans():
                return 0, 1
            case Integers(low, high):
                return low.at(self.bounds), high.at(self.bounds)
            case Reference(family, optional):
                return -1 if optional else 0, self.extent(self.schema.index_sets[family]) - 1
            case Subset(family):
                return 0, (1 << self.extent(self.schema.index_sets[family])) - 1

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """Every scalar of the state, in order of declaration, then of index."""
        found: list[Cell] = []
        for variable in self.schema.variables:
            low, high = self.limits(variable.domain)
            initial = -1 if variable.initial is None else variable.initial
            if isinstance(initial, int) and not low <= initial <= high:
                raise ProtocolError(
                    f"{variable.name} cannot be {variable.initial!r} at first: valid is "
                    f"{variable.domain}"
                )
            for index in indices(tuple(self.extent(s) for s in variable.index)):
                found.append(Cell(len(found), variable, index, low, high))
        return tuple(found)

    @cached_property
    def positions(self) -> dict[tuple[str, tuple[int, ...]], int]:
        """The position of each cell by variable name and index."""
        return {(cell.variable.name, cell.index): cell.position for cell in self.cells}

    @cached_property
    def captured(self) -> tuple[CapturedAction, ...]:
        """The protocol's actions as expressions, in order."""
        return tuple(
            capture_action(
                action.name,
                action.function,
                self.schema,
                self.settings,
                action.parameters(self.schema),
            )
            for action in self.protocol.actions
        )

    def captured_claim(self, name: str, claim: Callable[..., bool], frames: int = 1) -> Node:
        """A claim as an expression, captured once: all engines work on the same one."""
        key = claim, frames
        if key not in self._claims:
            self._claims[key] = capture_property(name, claim, self.schema, self.settings, frames)
        return self._claims[key]

    @cached_property
    def _claims(self) -> dict[tuple[Callable[..., bool], int], Node]:
        return {}

    @cached_property
    def instances(self) -> tuple[Instance, ...]:
        """Every action with every choice of parameters, in the order of traces."""
        found: list[Instance] = []
        for action in self.protocol.actions:
            parameters = action.parameters(self.schema)
            ranges = [self._values(parameter) for parameter in parameters]
            for arguments in itertools.product(*ranges):
                found.append(Instance(len(found), action, parameters, arguments))
        return tuple(found)

    def _values(self, parameter: Parameter) -> range:
        low, high = self.limits(parameter.domain)
        return range(low, high + 1)

    @cached_property
    def identity(self) -> dict[str, Any]:
        """Protocol, bounds and settings as plain data: what a trace or a store belongs to."""
        return {
            "protocol": self.protocol.name,
            "bounds": dict(self.bounds),
            "settings": as_text(self.settings),
        }
