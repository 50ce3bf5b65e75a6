"""The laws that generated protocols are held against, each a function of one example."""

from __future__ import annotations

import dataclasses
import itertools
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path

from checker.core.engines.agreement import require_agreement
from checker.core.engines.layout import Layout
from checker.core.engines.reference import ReferenceEngine, State
from checker.core.search.explore import Explorer, Limits, Options
from checker.core.traces.itf import read_trace, write_trace
from checker.core.traces.trace import build_trace
from model.language.declare.domains import Reference, Subset
from model.language.errors import CaptureError, DomainError
from model.language.protocol import Cell, Instance, Model
from tests.laws.generator import Example
from tests.support import laws, textbook
from tests.support.beyond import beyond
from tests.support.stores import essence
from tests.support.variants import random_states

FEW = 24  # states
_SOME = Limits(states=150)


def can_be_captured(example: Example) -> bool:
    """Capture takes the example. If not, it says so: nothing is captured wrongly in silence."""
    try:
        for prop in example.properties:
            example.model.claim(prop.claim, prop.frames)
            if prop.premise is not None:
                example.model.claim(prop.premise)
        return bool(example.model.captured)
    except CaptureError:
        return False


def engines_agree(example: Example) -> None:
    """Guards, successors and misfits are those of the reference engine, in its order."""
    states = random_states(example.model, FEW, 1)
    laws.check_engines_agree(example.model, states)


def nothing_is_refused_for_a_difference(example: Example) -> None:
    """What is compared at the start of every search and proof is the same on both sides."""
    require_agreement(example.model, example.properties)


def what_never_changes_is_blank(example: Example) -> None:
    """What a narrow model takes for blank for ever is so in every state of a textbook search."""
    model = dataclasses.replace(example.model, narrow=True)
    try:
        states = textbook.search(model.wide, at_most=40).states
    except DomainError:
        return
    blank = {c.position: c.blank for c in model.cells if c.variable.name in model.unchanging}
    for state in states:
        assert {position: state[position] for position in blank} == blank


def machine_code_agrees(example: Example) -> None:
    """Machine code does what the vectorised programs do."""
    states = random_states(example.model, 6, 2)
    laws.check_compiled_agrees(example.model, states)
    steps = list(itertools.pairwise(states))
    laws.check_compiled_claims_agree(example.model, example.properties, states, steps)


def claims_agree(example: Example) -> None:
    """Properties are true of the same states and steps."""
    states = random_states(example.model, FEW, 3)
    steps = list(itertools.pairwise(states))
    laws.check_claims_agree(example.model, example.properties, states, steps)


def packing_loses_nothing(example: Example) -> None:
    """Unpacking undoes packing, and fields do not overlap."""
    layout = Layout(example.model)
    laws.check_layout(layout)
    laws.check_round_trip(layout, random_states(example.model, FEW, 4))


def search_is_textbook_search(example: Example) -> None:
    """The explorer's counts, verdicts and traces are those of search as in a textbook."""
    model = example.model
    try:
        graph = textbook.search(model, at_most=40)
    except DomainError:
        try:
            Explorer(model, ()).run()
        except DomainError:
            return
        raise AssertionError("the explorer overlooks a value that does not fit") from None
    limits = laws.limits_of(graph)
    laws.check_counts(laws.explore(model, (), limits), graph)
    found = laws.explore(model, example.properties, limits, keep_going=True)
    laws.check_violations(found, graph)


def search_beyond_memory_is_search(example: Example) -> None:
    """With hardly anything in memory the search finds what it finds otherwise."""
    model, options = example.model, Options(keep_going=True)
    try:
        expected = Explorer(model, example.properties, _SOME, options).run()
    except DomainError:
        return
    with tempfile.TemporaryDirectory() as place:
        search = beyond(Path(place), model, example.properties, options, _SOME)
        assert essence(search.run()) == essence(expected)


def traces_survive_storage(example: Example) -> None:
    """A run that is written as ITF and read again is the same run."""
    model, dice = example.model, random.Random(5)
    engine = ReferenceEngine(model)
    state, steps = engine.initial(), []
    for _ in range(6):
        enabled = list(_sound_steps(engine, state))
        if not enabled:
            break
        instance, state = dice.choice(enabled)
        steps.append(instance)
    trace = build_trace(model, steps)
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "trace.itf.json"
        write_trace(trace, path)
        again = read_trace(path, {model.protocol.name: model.protocol})
    assert (again.states, again.steps) == (trace.states, trace.steps)


def renaming_members_changes_nothing(example: Example) -> None:
    """The steps of a renamed state are the renamed steps of the state."""
    model, engine = example.model, ReferenceEngine(example.model)
    names = range(model.bounds["nodes"])
    for state in random_states(model, 4, 6):
        expected = {after for _, after in _sound_steps(engine, state)}
        for renaming in itertools.permutations(names):
            found = _sound_steps(engine, renamed(model, state, renaming))
            assert {after for _, after in found} == {
                renamed(model, after, renaming) for after in expected
            }


def exports_do_what_the_model_does(example: Example) -> None:
    """Promela and TLA+ that are read again have its steps and claims."""
    from tests.support.exports import check_promela, check_tla, export_of

    exported = export_of(example.model, example.properties)
    states = random_states(example.model, 6, 8)
    check_promela(exported, states)
    if exported.cells:
        check_tla(exported, states)


def z3_terms_agree(example: Example) -> None:
    """Z3's terms have the values that the reference engine computes."""
    from checker.core.engines.symbolic import SymbolicEngine
    from tests.support.proofs import check_claims, check_steps

    engine, states = SymbolicEngine(example.model), random_states(example.model, 2, 7)
    check_steps(engine, states)
    check_claims(engine, [p for p in example.properties if not p.of_steps], states)


def _sound_steps(engine: ReferenceEngine, state: State) -> Iterator[tuple[Instance, State]]:
    """The steps whose values fit."""
    for instance in engine.model.instances:
        try:
            after = engine.step(state, instance)
        except DomainError:
            continue
        if after is not None:
            yield instance, after


def renamed(model: Model, state: State, renaming: tuple[int, ...]) -> State:
    """The state in which member k is called `renaming[k]`."""
    found = list(state)
    for cell in model.cells:
        index = tuple(
            renaming[k] if index_set.symmetric else k
            for index_set, k in zip(cell.variable.index, cell.index, strict=True)
        )
        position = model.positions[cell.variable.name, index]
        found[position] = _renamed_value(cell, state[cell.position], renaming)
    return tuple(found)


def _renamed_value(cell: Cell, value: int, renaming: tuple[int, ...]) -> int:
    match cell.variable.domain:
        case Reference():
            return renaming[value] if value >= 0 else value
        case Subset():
            return sum(1 << new for old, new in enumerate(renaming) if value >> old & 1)
    return value


LAWS = (
    engines_agree,
    what_never_changes_is_blank,
    nothing_is_refused_for_a_difference,
    claims_agree,
    packing_loses_nothing,
    search_is_textbook_search,
    search_beyond_memory_is_search,
    traces_survive_storage,
    renaming_members_changes_nothing,
    exports_do_what_the_model_does,
    machine_code_agrees,
    z3_terms_agree,
)
