"""State machines for Hypothesis: check a protocol from a test file, at sizes far beyond search.

`state_machine` builds a `RuleBasedStateMachine` from any protocol and runs it on the reference
engine. Properties are invariants. Hypothesis draws the steps, and which actions are switched off
(swarm testing); and where a run begins, among states that `checker.core.search.beginnings` spreads
over what the model can do. Where a step to a violation is enabled, it is taken. A failing run is
made short by `checker.core.search.minimise`, printed as the explorer prints its traces, and stored
as one.

One rule draws among the enabled steps, instead of one rule an action with a precondition: most
actions are disabled in most states, and rules that Hypothesis must reject cost more than steps do.
After some steps, and where nothing is enabled, the run goes on from another beginning. What a run
does depends on what is drawn and on the model alone. `docs/decisions/0040-stateful-testing.md` has
the measurements.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar
from unittest import TestCase

from hypothesis import HealthCheck, Phase
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from checker.core.amounts import counted
from checker.core.engines.reference import ReferenceEngine, State
from checker.core.files import prepare_directory
from checker.core.search.beginnings import Beginnings
from checker.core.search.minimise import minimise
from checker.core.traces.itf import save_trace
from checker.core.traces.trace import build_trace
from checker.telling.report.text import render_text
from model.language.errors import DisagreementError, UsageError
from model.language.naming import instance_words
from model.language.protocol import Instance, Model, Protocol
from model.protocols import protocol_named
from properties import Property, Sense, promised_properties

DEFAULT_TRACE_DIRECTORY = "traces"
DEFAULT_SETTINGS = hypothesis_settings(
    max_examples=2_000,
    stateful_step_count=40,
    deadline=None,
    report_multiple_bugs=False,
    # `minimise` gives shorter runs in less time.
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
_SWARMS = 64  # sets of actions that are switched off, and as many times none
_SWITCHED_OFF = 0.25  # the share of actions that a set switches off
_REMEMBERED = 100_000  # states
_SEGMENT = 8  # steps from a beginning, before the next


class PropertyViolationError(AssertionError):
    """A run falsifies a property. The message is the run's trace, as `highwater_trace` is too."""

    def __init__(self, prop: Property, steps: tuple[Instance, ...], words: str = "") -> None:
        super().__init__(words or f"{prop.name} is violated after {counted(len(steps), 'step')}")
        self.highwater_trace = words
        self.property = prop
        self.steps = steps


@dataclass
class Effort:
    """What the runs of a machine came to: runs begun, steps drawn."""

    runs: int = 0
    steps: int = 0


@dataclass(frozen=True)
class Ways:
    """The enabled steps of a state by action, then by the number of the instance, with their ends.

    `wrong` is the first of them that falsifies a property, -1 if none does.
    """

    steps: Mapping[str, Mapping[int, State]]
    wrong: int


class World:
    """What the runs of one machine share: a model, what to check, and the states seen so far."""

    def __init__(self, model: Model, properties: Iterable[Property]) -> None:
        self.model = model
        self.invariants = tuple(p for p in properties if p.sense is Sense.ALWAYS)
        self.effort = Effort()
        self._engine = ReferenceEngine(model)
        self.initial = self._engine.initial()
        self._ways: dict[State, Ways] = {}
        self._checked: dict[State, Property | None] = {}
        self._after: dict[State, dict[int, State]] = {}
        draw = random.Random(0)
        names = [action.name for action in model.protocol.actions]
        self.swarms = [frozenset[str]()] * _SWARMS + [
            frozenset(name for name in names if draw.random() < _SWITCHED_OFF)
            for _ in range(_SWARMS)
        ]

    @cached_property
    def beginnings(self) -> Beginnings:
        """Where runs may begin: computed when the first one does."""
        return Beginnings(self.model)

    @property
    def distinct_states(self) -> int:
        """How many states are remembered."""
        return len(self._checked)

    def ways(self, state: State) -> Ways:
        """What is enabled in a state."""
        found = self._ways.get(state)
        if found is None:
            steps: dict[str, dict[int, State]] = {}
            wrong = -1
            for instance, after in self._engine.successors(state):
                steps.setdefault(instance.action.name, {})[instance.number] = after
                if wrong < 0 and self.violated(state, after) is not None:
                    wrong = instance.number
            found = Ways(steps, wrong)
            _remember(self._ways, state, found)
        return found

    def step(self, state: State, instance: Instance) -> State:
        """The state after a step that another engine found enabled."""
        known = self._after.get(state)
        if known is None:
            known = {}
            _remember(self._after, state, known)
        after = known.get(instance.number)
        if after is None:
            after = self._engine.step(state, instance)
            if after is None:
                raise DisagreementError(
                    f"{instance_words(self.model, instance)}: the captured graph enables it in a "
                    "state in which the function does not"
                )
            known[instance.number] = after
        return after

    def violated(self, before: State | None, after: State) -> Property | None:
        """The property that is false in a state, or in the step that led to it; `None` if none."""
        if after in self._checked:
            found = self._checked[after]
        else:
            found = next(
                (p for p in self.invariants
                 if not p.of_steps and not self._engine.holds(p.claim, after)), None
            )  # fmt: skip
            _remember(self._checked, after, found)
        if found is None and before is not None:
            for prop in self.invariants:
                if prop.of_steps and not self._engine.holds(prop.claim, before, after):
                    return prop
        return found


def _remember(memory: dict[State, Any], state: State, found: object) -> None:
    if len(memory) >= _REMEMBERED:
        memory.clear()
    memory[state] = found


def _mixed(*numbers: int) -> int:
    """A number of 64 bits that depends on all the numbers, and on each bit of them."""
    value = 0
    for number in numbers:
        value = ((value ^ number) + 0x9E3779B97F4A7C15) * 0xD6E8FEB86659FD93 & 0xFFFFFFFFFFFFFFFF
        value ^= value >> 32
    return value


class ProtocolMachine(RuleBasedStateMachine):
    """A run of a protocol. Its subclasses have the rules."""

    world: ClassVar[World]

    def __init__(self) -> None:
        super().__init__()
        self.before: State | None = None
        self.state = self.world.initial
        self.taken: list[Instance] = []
        self.left = 0
        self.drawn = 0
        self.switched_off: frozenset[str] = frozenset()
        self.world.effort.runs += 1

    def begin(self, seed: int, number: int) -> None:
        """Choose what all that is drawn afterwards is mixed with, and where this run begins."""
        self.drawn = seed
        self.go_to(number)

    def go_to(self, number: int) -> None:
        """Go on from another beginning, the initial one for 0, avoiding other actions.

        Stops on the way where a property is violated. From the initial state a run goes on for as
        long as it can.
        """
        self.before, self.state, self.taken = None, self.world.initial, []
        self.left = _SEGMENT if number else -1
        place = number and self._choose(number, 3) % len(self.world.beginnings)
        self.switched_off = self.world.swarms[self._choose(number, 4) % len(self.world.swarms)]
        for instance in self.world.beginnings.run(place):
            if self.world.violated(self.before, self.state) is not None:
                return
            self.before, self.state = self.state, self.world.step(self.state, instance)
            self.taken.append(instance)

    def step(self, number: int) -> None:
        """Take the enabled step that the number chooses, or one that violates a property.

        Where nothing is enabled, and after some steps, go on from another beginning first.
        """
        self.drawn = self._choose(number, 0)
        if self.left == 0 or not self.world.ways(self.state).steps:
            self.go_to(number)
            if self.world.violated(self.before, self.state) is not None:
                return
        ways = self.world.ways(self.state)
        if not ways.steps:
            return
        chosen = ways.wrong if ways.wrong >= 0 else self._preferred(ways.steps, number)
        instance = self.world.model.instances[chosen]
        self.before, self.state = self.state, ways.steps[instance.action.name][chosen]
        self.taken.append(instance)
        self.left -= 1
        self.world.effort.steps += 1

    def _preferred(self, steps: Mapping[str, Mapping[int, State]], number: int) -> int:
        names = [name for name in steps if name not in self.switched_off] or list(steps)
        instances = list(steps[names[self._choose(number, 1) % len(names)]])
        return instances[self._choose(number, 2) % len(instances)]

    def _choose(self, number: int, purpose: int) -> int:
        """What a drawn number comes to here: Hypothesis draws some numbers again and again."""
        return _mixed(self.drawn, number, purpose)

    @invariant()
    def properties_hold(self) -> None:
        """Every property holds in this state, and in the step that led to it."""
        found = self.world.violated(self.before, self.state)
        if found is not None:
            raise PropertyViolationError(found, tuple(self.taken))


def state_machine(
    protocol: Protocol | str,
    settings: Mapping[str, Any] | None = None,
    *,
    preset: str | None = None,
    properties: Iterable[str | Property] = (),
    trace_dir: Path | str | None = DEFAULT_TRACE_DIRECTORY,
    **bounds: int,
) -> type[TestCase]:
    """A test case that runs a protocol: `TestKip320 = state_machine("kip320", replicas=5)`.

    `settings` and `bounds` are the protocol's own, the rest at their defaults. `properties` names
    those to check, by default all that the model is promised. Traces of violations go to
    `trace_dir`, unless it is `None`.
    The result's attribute `settings` is Hypothesis's and may be replaced. Raises `UsageError` for
    names and values that the protocol does not know.
    """
    chosen = protocol_named(protocol) if isinstance(protocol, str) else protocol
    model = chosen.model(bounds, settings, preset)
    world = World(model, _properties(model, properties))

    numbers = st.integers(0, 0xFFFF)
    begin = initialize(seed=st.integers(0, 0xFFFFFFFF), number=numbers)(ProtocolMachine.begin)
    step = rule(number=numbers)(ProtocolMachine.step)
    name = f"{chosen.name}_machine"
    members = {"world": world, "begin": begin, "step": step}
    machine = type(name, (ProtocolMachine,), members)
    return _test_case(machine, world, Path(trace_dir) if trace_dir is not None else None)


def _properties(model: Model, wanted: Iterable[str | Property]) -> tuple[Property, ...]:
    wanted = tuple(wanted)
    own = tuple(prop for prop in wanted if isinstance(prop, Property))
    names = [prop for prop in wanted if isinstance(prop, str)]
    return own if own and not names else (*own, *promised_properties(model, names))


def _test_case(machine: Any, world: World, directory: Path | None) -> type[TestCase]:
    """The machine's test case, which fails with a short trace."""
    base: Any = machine.TestCase

    class ProtocolTestCase(base):  # type: ignore[misc]  # a class that Hypothesis makes
        settings = DEFAULT_SETTINGS
        effort = world.effort

        def runTest(self) -> None:  # noqa: N802  # unittest's name
            if directory is not None:
                prepare_directory(directory)
            try:
                super().runTest()
            except PropertyViolationError as violation:
                raise _report(world.model, violation, directory) from None

    for name, value in vars(base.runTest).items():
        setattr(ProtocolTestCase.runTest, name, value)
    return ProtocolTestCase


def _report(
    model: Model, violation: PropertyViolationError, directory: Path | None
) -> PropertyViolationError:
    """The violation with its trace made short, stored, and in words."""
    prop = violation.property
    short = minimise(model, violation.steps, prop)
    trace = build_trace(model, short.steps, prop)
    text = f"\n\n{render_text(trace)}\n"
    text += f"found in {len(violation.steps)} steps, {trace.depth} are left"
    text += "; no shorter run exists\n" if short.is_shortest else "\n"
    if directory is not None:
        try:
            text += f"trace saved: {save_trace(trace, directory, prop.name)}\n"
        except UsageError as error:
            text += f"{error}\n"
    return PropertyViolationError(prop, short.steps, text)
