"""Protocols and models: a model is a protocol with its sizes and settings chosen.

The words are TLA+'s: what one checks is a model of a protocol.
"""

from __future__ import annotations

import dataclasses
import itertools
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from model.language import graph
from model.language.action import Action, Instance
from model.language.capture import (
    CapturedAction,
    Parameter,
    Write,
    capture_property,
    capture_start,
)
from model.language.cases import Case, captured_by_cases
from model.language.cells import Cell, StateSpace
from model.language.declare.domains import Bound, Integers, Limit
from model.language.declare.entity import State
from model.language.declare.schema import Schema
from model.language.declare.settings import (
    NoSettings,
    as_text,
    check_bounds,
    choose_settings,
    preset_named,
)
from model.language.errors import CaptureError, ProtocolError, UsageError, unknown_name
from model.language.fairness import Fairness
from model.language.graph import Node
from model.language.ground import GroundAction, Grounder, shared_grounder
from model.language.listed import Claim, check_listed
from model.language.telling import Telling
from model.language.unchanging import narrowed

__all__ = ["Cell", "Claim", "Instance", "Model", "Protocol"]


@dataclass(frozen=True, eq=False)
class Protocol:
    """A protocol: its state, how it starts, what it may do, and what the user may choose.

    `start(state)` assigns what differs at first from the declared initial values. The order of
    `actions` is the order in which traces are compared. `presets` are named choices of settings.
    `properties` are what it promises, should be able to do, and must do in the end; `lemmas` what
    proofs may use besides, `templates` what `infer` makes lemmas of; those of Kafka are in
    `properties/`.
    For liveness: `fairness` says which actions no run puts off for ever, `cut_by` which bounds
    cut off what would go on, so that nothing is at fault where they do. `views` name parts of the
    state, each the fields that it shows: `{"isr": ("quorum.isr", "replicas.isr")}`.
    `cases(settings, names)` gives the cases by which an action with parameters of these names runs.
    `telling` says what reports lay out, and whom they draw a lane for.
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
    properties: tuple[Claim, ...] = ()
    lemmas: tuple[Claim, ...] = ()
    templates: Any = None
    fairness: tuple[Fairness, ...] = ()
    cut_by: tuple[Bound, ...] = ()
    views: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    cases: Callable[[Any, tuple[str, ...]], tuple[Case, ...]] | None = None
    telling: Telling = field(default_factory=Telling)
    module: str = field(default="", init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "module", _declaring_module())
        lists = ("actions", "bounds", "properties", "lemmas")
        check_listed(self.name, {what: getattr(self, what) for what in lists})

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
        self, bounds: Mapping[str, int] | None = None, settings: Mapping[str, Any] | None = None,
        preset: str | None = None,
    ) -> Model:  # fmt: skip
        """This protocol with the given bounds and settings.

        The other settings are those of the preset called `preset`, or so without the system's name:
        `4.1`. Without one they are at their defaults, as the other bounds are.
        """
        name = preset_named(self.presets, preset, self.name) if preset is not None else ""
        values = {**self.presets.get(name, {}), **(settings or {})}
        chosen = choose_settings(self.settings, values, f"highwater list {self.name}")
        sizes = self._choose_bounds(bounds or {})
        check_bounds(chosen, sizes)
        if self.cases is not None:
            self.cases(chosen, ())  # which refuses what cannot be
        return Model(self.schema, sizes, self, chosen, name)

    def preset(self, name: str) -> Mapping[str, Any]:
        """The settings of the preset called `name`, or so without the system's: `4.1`."""
        return self.presets[preset_named(self.presets, name, self.name)]

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
        schema = Schema(self.state)
        schema.bounds = frozenset(bound.name for bound in self.bounds)
        self._refuse_unknown_bounds(schema.limits())
        return schema

    @cached_property
    def parameters(self) -> dict[str, tuple[Parameter, ...]]:
        """The parameters of each action, by its name."""
        found = {action.name: action.parameters(self.schema) for action in self.actions}
        domains = (parameter.domain for each in found.values() for parameter in each)
        ranges = (domain for domain in domains if isinstance(domain, Integers))
        self._refuse_unknown_bounds(limit for domain in ranges for limit in domain.limits)
        return found

    def _refuse_unknown_bounds(self, limits: Iterable[Limit]) -> None:
        """A limit needs a value: its bound must be one of the protocol's, not one named alike."""
        declared = {bound.name: bound for bound in self.bounds}
        if len(declared) < len(self.bounds):
            raise ProtocolError(f"{self.name} has two bounds of one name: {', '.join(declared)}")
        for limit in limits:
            if limit.bound is None:
                continue
            name = limit.bound.name
            if name not in declared:
                raise ProtocolError(
                    f"{self.name}: a limit is {limit}, but {name} is not among the bounds"
                )
            if not limit.bound.is_same(declared[name]):
                raise ProtocolError(
                    f"{self.name}: two bounds are called {name}: declare it once, and write "
                    "with_default(...) for another default"
                )


def _declaring_module() -> str:
    """The name of the module that declares the protocol which is being made."""
    frame = sys._getframe(2)
    while frame.f_back is not None and frame.f_globals.get("__name__") in (__name__, "dataclasses"):
        frame = frame.f_back
    return str(frame.f_globals.get("__name__", ""))


@dataclass(frozen=True, eq=False)
class Model(StateSpace):
    """A protocol with its bounds and settings chosen: what engines run.

    Its cells and action instances are numbered in a fixed order, which all engines share. What is
    captured and grounded is so once. Cells that these bounds and settings leave blank for ever take
    no room and no time, unless `narrow` is false: what is not used is not paid for. `preset` is
    the name that the settings were chosen by, if any; what was chosen besides goes before it.
    """

    protocol: Protocol
    settings: Any
    preset: str = field(default="", compare=False)
    narrow: bool = True
    watchers: list[Callable[[int, int], None]] = field(
        default_factory=list, init=False, repr=False, compare=False
    )
    """Each is told how many of all instances are grounded, whenever one more is."""
    _claims: dict[tuple[Callable[..., bool], int], Node] = field(
        default_factory=dict, init=False, repr=False
    )

    @cached_property
    def instances(self) -> tuple[Instance, ...]:
        """Every action with every choice of parameters, in the order of traces."""
        found: list[Instance] = []
        for action in self.protocol.actions:
            parameters = self.protocol.parameters[action.name]
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

    # --- captured: sizes left open -----------------------------------------------------------

    @cached_property
    def captured(self) -> tuple[CapturedAction, ...]:
        """The protocol's actions as expressions, in order."""
        return tuple(self.captured_action(action) for action in self.protocol.actions)

    def captured_action(self, action: Action) -> CapturedAction:
        """One of the protocol's actions as expressions."""
        parameters = self.protocol.parameters[action.name]
        with self._members_exist():
            return captured_by_cases(action, self.cases[action.name], self.schema, parameters)

    @cached_property
    def cases(self) -> dict[str, tuple[Case, ...]]:
        """The settings that each action runs with, by its name: in each state just one case is."""
        cases = self.protocol.cases or (lambda settings, _: (Case(settings),))
        return {
            name: cases(self.settings, tuple(parameter.name for parameter in parameters))
            for name, parameters in self.protocol.parameters.items()
        }

    @cached_property
    def at_once(self) -> tuple[Any, ...]:
        """All settings that actions run with, whatever the case."""
        settings = (case.settings for cases in self.cases.values() for case in cases)
        return tuple(dict.fromkeys((self.settings, *settings)))

    @contextmanager
    def _members_exist(self) -> Iterator[None]:
        """Refuses a capture that names a member by a number that no member has."""
        named = self.schema.named
        named.clear()
        yield
        for (family, number), place in named.items():
            if number >= self.extents[family]:
                raise CaptureError(
                    f"{place}: {family}[{number}] does not exist: with these bounds there are "
                    f"{self.extents[family]}, numbered from 0"
                )

    @cached_property
    def start(self) -> tuple[Write, ...]:
        """What the protocol's start assigns, over the blank state."""
        return capture_start(self.protocol.start, self.schema, self.settings)

    def claim(self, function: Callable[..., bool], frames: int = 1) -> Node:
        """A claim about a state, or with `frames` 2 about a step, as an expression."""
        key = (function, frames)
        if key not in self._claims:
            with self._members_exist():
                self._claims[key] = capture_property(function, self.schema, self.settings, frames)
                if not self.is_one_claim(function, frames):
                    raise UsageError(
                        f"{function.__name__} asks by settings that are not the same for all: it "
                        "cannot be checked of this model"
                    )
        return self._claims[key]

    def is_one_claim(self, function: Callable[..., bool], frames: int = 1) -> bool:
        """A claim is the same by all settings that actions run with."""
        if len(self.at_once) == 1:
            return True
        of = [capture_property(function, self.schema, each, frames) for each in self.at_once]
        return all(claim is of[0] for claim in of)

    # --- ground: over cells ------------------------------------------------------------------

    @cached_property
    def wide(self) -> Model:
        """The same model with all numbers of each domain in its cells: for other actions."""
        return dataclasses.replace(self, narrow=False)

    @cached_property
    def _narrowed(self) -> tuple[Mapping[str, int], tuple[GroundAction, ...]]:
        """What stays blank in the space with all numbers of each domain, and the actions then."""
        grounder = shared_grounder(self.schema, self.bounds)
        return narrowed(grounder.space, grounder.initial(self.start), self._ground(grounder, {}))

    @cached_property
    def unchanging(self) -> Mapping[str, int]:
        """The variables that no action changes: constants, where the model is narrow.

        Raises `CaptureError` of actions that cannot be captured: only what needs no graph runs.
        """
        return self._narrowed[0] if self.narrow else {}

    @cached_property
    def _grounder(self) -> Grounder:
        return Grounder(self)

    @cached_property
    def initial_state(self) -> tuple[int, ...]:
        """The initial state: the number in each cell."""
        return self._grounder.initial(self.start)

    @cached_property
    def ground_actions(self) -> tuple[GroundAction, ...]:
        """The action instances that some state might enable, in order."""
        return self._narrowed[1] if self.narrow else self.ground_actions_with({})

    def ground_actions_with(
        self, changed: Mapping[str, CapturedAction]
    ) -> tuple[GroundAction, ...]:
        """The same, where `changed` replaces what is captured for some actions, by name."""
        return self._ground(Grounder(self), changed)

    def _ground(
        self, grounder: Grounder, changed: Mapping[str, CapturedAction]
    ) -> tuple[GroundAction, ...]:
        captured = {action.name: changed.get(action.name, action) for action in self.captured}
        found = []
        for done, instance in enumerate(self.instances, 1):
            action = grounder.action(instance, captured[instance.action.name])
            if action.guard is not graph.FALSE:
                found.append(action)
            for watcher in self.watchers:
                watcher(done, len(self.instances))
        return tuple(found)

    def grounded(
        self, instances: Sequence[Instance], claims: Iterable[tuple[Callable[..., bool], int]] = ()
    ) -> tuple[tuple[GroundAction, ...], tuple[Node, ...]]:
        """Some instances and some claims with their frames, over cells with all their numbers.

        Captures only what these need, so that a few steps are had in a moment.
        """
        grounder = shared_grounder(self.schema, self.bounds)
        captured = {
            name: self.captured_action(action)
            for name, action in {i.action.name: i.action for i in instances}.items()
        }
        return (
            tuple(grounder.action(i, captured[i.action.name]) for i in instances),
            tuple(grounder.expression(self.claim(*claim)) for claim in claims),
        )

    @cached_property
    def possible_actions(self) -> frozenset[str]:
        """The names of the actions that bounds and settings do not switch off."""
        return frozenset(ground.instance.action.name for ground in self.ground_actions)

    def ground_claim(self, function: Callable[..., bool], frames: int = 1) -> Node:
        """A claim over cells: of frame 0, and with `frames` 2 of frame 1 after the step."""
        return self._grounder.expression(self.claim(function, frames))

    def ground_part(self, node: Node, environment: Mapping[Node, int]) -> Node:
        """A captured expression over cells, with what its free variables stand for, by number."""
        return self._grounder.expression(node, dict(environment))
