"""State machines for Hypothesis: check a protocol from a test file, at sizes far beyond search.

`state_machine` builds a `RuleBasedStateMachine` from any protocol and runs it on the reference
engine. Properties are invariants. Hypothesis draws the steps, switches actions off for whole runs
(swarm testing) and climbs towards runs that come near a violation. A failing run is made short by
`checker.search.minimise`, printed as the explorer prints its traces, and stored as one.

One rule draws among the enabled steps, instead of one rule an action with a precondition: most
actions are disabled in most states, and rules that Hypothesis must reject cost more than steps do.
Where nothing is enabled, the run goes on from the initial state.
`docs/decisions/0040-stateful-testing.md` has the measurements.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar
from unittest import TestCase

from hypothesis import HealthCheck, Phase, target
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from checker.engines.reference import ReferenceEngine, State
from checker.files import prepare_directory
from checker.report.text import render_text
from checker.search.distance import Distance
from checker.search.minimise import minimise
from checker.traces.itf import save_trace
from checker.traces.trace import build_trace
from model.language.protocol import Instance, Model, Protocol
from model.protocols import protocol_named
from properties import Property, Sense, promised_properties

DEFAULT_TRACE_DIRECTORY = "traces"
DEFAULT_SETTINGS = hypothesis_settings(
    max_examples=5_000,
    stateful_step_count=40,
    deadline=None,
    report_multiple_bugs=False,
    # `minimise` gives shorter runs in less time.
    phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.target],
    suppress_health_check=list(HealthCheck),
)
_SWARMS = 64  # sets of actions that are switched off; the first is empty
_SWITCHED_OFF = 0.25  # the share of actions that a set switches off
_REMEMBERED = 100_000  # states


class PropertyViolationError(AssertionError):
    """A run falsifies a property. The message is the run's trace."""

    def __init__(self, prop: Property, steps: tuple[Instance, ...], words: str = "") -> None:
        super().__init__(words or f"{prop.name} is violated after {len(steps)} steps")
        self.property = prop
        self.steps = steps


@dataclass
class Effort:
    """What the runs of a machine came to: runs begun, steps taken, returns to the start."""

    runs: int = 0
    steps: int = 0
    restarts: int = 0


class World:
    """What the runs of one machine share: a model, what to check, and the states seen so far."""

    def __init__(self, model: Model, properties: Iterable[Property]) -> None:
        self.model = model
        self.invariants = tuple(p for p in properties if p.sense is Sense.ALWAYS)
        self.effort = Effort()
        self._engine = ReferenceEngine(model)
        self.initial = self._engine.initial()
        self._distances = [Distance(model, p) for p in self.invariants if not p.of_steps]
        self._steps: dict[State, dict[str, dict[int, State]]] = {}
        self._checked: dict[State, int | Property] = {}
        self.preferences = _Preferences(model)

    @property
    def distinct_states(self) -> int:
        """How many states are remembered."""
        return len(self._checked)

    def steps(self, state: State) -> Mapping[str, Mapping[int, State]]:
        """The enabled steps by action, then by the number of the instance, with their ends."""
        found = self._steps.get(state)
        if found is None:
            found = {}
            for instance, after in self._engine.successors(state):
                found.setdefault(instance.action.name, {})[instance.number] = after
            _remember(self._steps, state, found)
        return found

    def check_state(self, state: State) -> int | Property:
        """The property of states that is false in the state; else its distance from one."""
        found = self._checked.get(state)
        if found is None:
            found = min((distance(state) for distance in self._distances), default=0)
            for prop in self.invariants:
                if not prop.of_steps and not self._engine.holds(prop.claim, state):
                    found = prop
                    break
            _remember(self._checked, state, found)
        return found

    def check_step(self, before: State, after: State) -> Property | None:
        """The property of steps that is false in the step."""
        for prop in self.invariants:
            if prop.of_steps and not self._engine.holds(prop.claim, before, after):
                return prop
        return None


def _remember(memory: dict[State, Any], state: State, found: object) -> None:
    if len(memory) >= _REMEMBERED:
        memory.clear()
    memory[state] = found


class _Preferences:
    """How a drawn number becomes a step, whatever is enabled: as a list to try in order.

    List k begins with k and goes on in an order of its own, so that each enabled choice is equally
    likely, none is rejected, and a number means the same in most states.
    """

    def __init__(self, model: Model) -> None:
        names = [action.name for action in model.protocol.actions]
        self.actions = [
            [names[k] for k in _order(len(names), first)] for first in range(len(names))
        ]
        self.instances: dict[str, list[list[int]]] = {}
        for name in names:
            numbers = [i.number for i in model.instances if i.action.name == name]
            orders = [_order(len(numbers), first) for first in range(len(numbers))]
            self.instances[name] = [[numbers[k] for k in order] for order in orders]
        self.most_instances = max(len(lists) for lists in self.instances.values())
        draw = random.Random(0)
        self.swarms = [frozenset[str]()] + [
            frozenset(name for name in names if draw.random() < _SWITCHED_OFF)
            for _ in range(_SWARMS - 1)
        ]


def _order(count: int, first: int) -> list[int]:
    rest = [k for k in range(count) if k != first]
    if first:
        random.Random(first).shuffle(rest)
    return [first, *rest]


class ProtocolMachine(RuleBasedStateMachine):
    """A run of a protocol. Its subclasses have the rules."""

    world: ClassVar[World]

    def __init__(self) -> None:
        super().__init__()
        self.before: State | None = None
        self.state = self.world.initial
        self.taken: list[Instance] = []
        self.switched_off: frozenset[str] = frozenset()
        self.nearest: int | None = None
        self.world.effort.runs += 1

    def step(self, action: int, instance: int) -> None:
        """Take the enabled step that the two numbers prefer; without any, start again."""
        enabled, preferences = self.world.steps(self.state), self.world.preferences
        if not enabled:
            self.before, self.state, self.taken = None, self.world.initial, []
            self.world.effort.restarts += 1
            return
        names = [name for name in preferences.actions[action] if name in enabled]
        name = next((name for name in names if name not in self.switched_off), names[0])
        lists = preferences.instances[name]
        number = next(n for n in lists[instance % len(lists)] if n in enabled[name])
        self.before, self.state = self.state, enabled[name][number]
        self.taken.append(self.world.model.instances[number])
        self.world.effort.steps += 1

    @invariant()
    def properties_hold(self) -> None:
        """Every property holds in this state, and in the step that led to it."""
        found: int | Property | None = self.world.check_state(self.state)
        if isinstance(found, int):
            self.nearest = found if self.nearest is None else min(found, self.nearest)
            found = self.world.check_step(self.before, self.state) if self.before else None
        if isinstance(found, Property):
            raise PropertyViolationError(found, tuple(self.taken))

    def teardown(self) -> None:
        """Tell Hypothesis how near the run came to a violation."""
        if self.nearest is not None:
            target(-float(self.nearest), label="nearness to a violation")


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
    values = dict(chosen.preset(preset)) if preset is not None else {}
    model = chosen.model(bounds, values | dict(settings or {}))
    world = World(model, _properties(model, properties))
    preferences = world.preferences

    @initialize(swarm=st.integers(0, _SWARMS - 1))
    def switch_off(self: ProtocolMachine, swarm: int) -> None:
        self.switched_off = self.world.preferences.swarms[swarm]

    step = rule(
        action=st.integers(0, len(preferences.actions) - 1),
        instance=st.integers(0, preferences.most_instances - 1),
    )(ProtocolMachine.step)
    name = f"{chosen.name}_machine"
    members = {"world": world, "switch_off": switch_off, "step": step}
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

    class ProtocolTestCase(base):  # type: ignore[misc]
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
        text += f"trace saved: {save_trace(trace, directory, prop.name)}\n"
    return PropertyViolationError(prop, short.steps, text)
