"""What is exported is read again and run beside the reference engine, state by state."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from checker.core.engines.reference import ReferenceEngine, State
from checker.core.export.exported import Exported, exportable
from checker.core.export.promela import as_promela
from checker.core.export.tla import as_tla
from model.language.cells import Cell
from model.language.declare.domains import Subset
from model.language.graph import BOOL, TRUE
from model.language.protocol import Model
from properties import Property
from tests.support.laws import reference_steps
from tests.support.read_promela import Failed, ReadPromela
from tests.support.read_tla import ReadTla

MISFIT = "a value does not fit its variable"


def export_of(model: Model, properties: Iterable[Property]) -> Exported:
    """The model with those of the properties that can be exported."""
    return Exported(model, exportable(properties, False), "a test")


def expected_steps(
    exported: Exported, states: Sequence[State]
) -> dict[tuple[int, int], State | str]:
    """By state and action instance, the state after; or the name of what fails, with `MISFIT`."""
    model, engine = exported.model, ReferenceEngine(exported.model)
    steps, misfits = reference_steps(model, states)
    found: dict[tuple[int, int], State | str] = dict.fromkeys(misfits, MISFIT)
    for row, number, after in steps:
        wrong = [p.name for p in exported.of_steps if not engine.holds(p.claim, states[row], after)]
        found[row, number] = wrong[0] if wrong else after
    return found


def check_promela(exported: Exported, states: Sequence[State]) -> None:
    """Each option of the process does what its step does, or fails where its claim is false."""
    model, engine = exported.model, ReferenceEngine(exported.model)
    read = ReadPromela(as_promela(exported))

    def seen(state: State) -> State:
        return tuple(state[cell.position] for cell in exported.cells)

    assert read.initial == seen(model.initial_state)
    claims = [p for p in exported.of_states if exported.claim(p) is not TRUE]
    actions = model.ground_actions
    assert len(read.options) == len(actions) + len(claims)
    expected = expected_steps(exported, states)
    for row, state in enumerate(states):
        for number, action in enumerate(actions):
            wanted = expected.get((row, action.instance.number))
            words = f"{action.instance} of {state}"
            found = _outcome(partial(read.take, number, seen(state)))
            assert found == (seen(wanted) if isinstance(wanted, tuple) else wanted), words
        for number, prop in enumerate(claims, len(actions)):
            wanted = None if engine.holds(prop.claim, state) else prop.name
            found = _outcome(partial(read.take, number, seen(state)))
            assert found == wanted, f"{prop.name} of {state}"


def check_tla(exported: Exported, states: Sequence[State]) -> None:
    """Each operator is the step, and each invariant and action property the claim."""
    model, engine = exported.model, ReferenceEngine(exported.model)
    written = as_tla(exported, "Exported")
    read = ReadTla(written.module)
    variables = list(dict.fromkeys(cell.variable.name for cell in exported.cells))

    def seen(state: State) -> dict[str, Any]:
        return {
            name: _whole(model, state, variable)
            for name, variable in zip(read.variables, variables, strict=True)
        }

    assert (read.name, read.initial) == ("Exported", seen(model.initial_state))
    lines = [line.split() for line in written.configuration.splitlines()]
    of_states = [line[1] for line in lines if line[0] == "INVARIANT"]
    of_steps = [line[1].removesuffix("_always") for line in lines if line[0] == "PROPERTY"]
    plain = Exported(model, exported.of_states, "")
    expected = expected_steps(plain, states)
    for row, state in enumerate(states):
        before = seen(state)
        for name, action in zip(read.steps, model.ground_actions, strict=True):
            wanted = expected.get((row, action.instance.number))
            found = _outcome(partial(read.take, name, before))
            after = seen(wanted) if isinstance(wanted, tuple) else None
            assert found == (after or wanted), f"{action.instance} of {state}"
            if isinstance(wanted, tuple):
                for prop, step in zip(exported.of_steps, of_steps, strict=True):
                    holds = engine.holds(prop.claim, state, wanted)
                    assert read.holds(step, before, after) == holds, f"{prop.name} of {state}"
        for prop, name in zip(exported.of_states, of_states, strict=True):
            assert read.holds(name, before) == engine.holds(prop.claim, state), prop.name


def _outcome(take: Callable[[], Any]) -> Any:
    """What a step gives; or what fails, by name."""
    try:
        return take()
    except Failed as failed:
        words = str(failed)
        return MISFIT if words.endswith(MISFIT) else words.removesuffix(" is violated")


def _whole(model: Model, state: State, name: str, index: tuple[int, ...] = ()) -> Any:
    """The value of a variable in a state, as TLA+ has it: nested functions, sets, conditions."""
    variable = model.schema.variables[name]
    if len(index) == len(variable.index):
        return _value(model.cells[model.positions[name, index]], state)
    size = model.extents[variable.index[len(index)].name]
    return {k: _whole(model, state, name, (*index, k)) for k in range(size)}


def _value(cell: Cell, state: State) -> Any:
    number = state[cell.position]
    if cell.variable.sort is BOOL:
        return bool(number)
    if isinstance(cell.variable.domain, Subset):
        return frozenset(k for k in range(number.bit_length()) if number >> k & 1)
    return number
