"""The laws that every engine must obey, as functions, so that mutants can be held against them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from checker.core.engines.compiled import CompiledExpansion
from checker.core.engines.compiled_claims import CompiledClaims
from checker.core.engines.layout import Layout
from checker.core.engines.reference import ReferenceEngine, State
from checker.core.engines.vectorised import Successors, VectorisedEngine
from checker.core.search.explore import Explorer, Limits, Options
from checker.core.search.watch import premise_claims
from checker.core.verdict import Exploration, Verdict
from model.language import not_
from model.language.errors import DomainError
from model.language.protocol import Instance, Model
from properties import Property, Sense
from tests.support.textbook import Graph, least_violation, replay

Steps = list[tuple[int, int, State]]
"""(row, number of the instance, state after), in order."""


# --- packing ------------------------------------------------------------------------------------


def check_layout(layout: Layout) -> None:
    """No two fields share a bit, and none leaves its word."""
    taken: set[tuple[int, int]] = set()
    for field in layout.fields:
        assert 0 <= field.word < layout.words, f"{field} is in no word"
        bits = {(field.word, field.shift + k) for k in range(field.bits)}
        assert all(0 <= bit < 64 for _, bit in bits), f"{field} leaves its word"
        assert not bits & taken, f"{field} overlaps another"
        taken |= bits
    assert layout.bits == len(taken), "the layout miscounts its bits"


def check_round_trip(layout: Layout, states: Sequence[State]) -> None:
    """Packing loses nothing, and different states have different words."""
    packed = layout.pack(states)
    assert packed.dtype == np.uint64
    assert packed.shape == (layout.words, len(states))
    assert layout.unpack(packed) == list(states), "unpacking does not undo packing"
    assert len(set(map(tuple, packed.T.tolist()))) == len(set(states)), "two states share words"
    for position in range(len(layout.fields)):
        told = [state[position] for state in states]
        assert layout.column(packed, position).tolist() == told, "a column is not what was packed"


# --- one step -----------------------------------------------------------------------------------


def reference_steps(model: Model, states: Sequence[State]) -> tuple[Steps, set[tuple[int, int]]]:
    """All steps of all states, and the (row, instance) pairs whose values do not fit."""
    engine, steps, misfits = ReferenceEngine(model), [], set()
    for row, state in enumerate(states):
        for instance in model.instances:
            try:
                after = engine.step(state, instance)
            except DomainError:
                misfits.add((row, instance.number))
                continue
            if after is not None:
                steps.append((row, instance.number, after))
    return steps, misfits


def check_engines_agree(
    model: Model, states: Sequence[State], engine: VectorisedEngine | None = None
) -> tuple[int, int]:
    """Both engines enable the same, do the same and refuse the same. Returns counts of steps."""
    engine = engine or VectorisedEngine(model)
    expected, misfits = reference_steps(model, states)
    words = engine.layout.pack(states)
    enabled = {
        (row, number)
        for number, mask in engine.enabled(words).items()
        for row in np.flatnonzero(mask).tolist()
    }
    wanted = {(row, number) for row, number, _ in expected} | misfits
    assert enabled == wanted, f"guards differ: {_some(model, states, enabled ^ wanted)}"
    refused = {row for row, _ in misfits}
    sound = [row for row in range(len(states)) if row not in refused]
    found = engine.expand(words[:, sound])
    place = {row: k for k, row in enumerate(sound)}
    got = list(
        zip(
            found.rows.tolist(),
            found.instances.tolist(),
            engine.layout.unpack(found.words),
            strict=True,
        )
    )
    want = [(place[row], number, after) for row, number, after in expected if row not in refused]
    assert [step[:2] for step in got] == [step[:2] for step in want], "the order of steps differs"
    wrong = [(sound[row], number) for (row, number, after), step in zip(want, got, strict=True)
             if step[2] != after]  # fmt: skip
    assert not wrong, f"effects differ: {_some(model, states, wrong)}"
    for row in sorted(refused)[:40]:
        try:
            engine.expand(words[:, [row]])
        except DomainError:
            continue
        raise AssertionError(f"a value that does not fit is not refused in {states[row]}")
    return len(want), len(misfits)


def check_compiled_agrees(model: Model, states: Sequence[State]) -> None:
    """Machine code gives the programs' steps, in their order, and refuses what they refuse."""
    engine = VectorisedEngine(model)
    compiled = CompiledExpansion(model, engine.actions, engine.layout)
    words = engine.layout.pack(states)
    refused = set()
    for row in range(len(states)):
        try:
            want = engine.expand(words[:, [row]])
        except DomainError:
            refused.add(row)
            try:
                compiled.expand(words[:, [row]])
            except DomainError:
                continue
            raise AssertionError(
                f"a value that does not fit is not refused in {states[row]}"
            ) from None
        _check_same_steps(compiled.expand(words[:, [row]]), want)
    sound = words[:, [row for row in range(len(states)) if row not in refused]]
    _check_same_steps(compiled.expand(sound), engine.expand(sound))
    _check_same_steps(compiled.expand(sound[:, ::2]), engine.expand(sound[:, ::2]))
    for _ in range(50):  # after them there is room for hardly a step of each state
        _check_same_steps(compiled.expand(sound[:, :0]), engine.expand(sound[:, :0]))
    _check_same_steps(compiled.expand(sound), engine.expand(sound))


def check_compiled_claims_agree(
    model: Model,
    properties: Sequence[Property],
    states: Sequence[State],
    steps: Sequence[tuple[State, State]],
) -> None:
    """Machine code judges claims, of states and of steps, and premises as the programs do."""
    engine = VectorisedEngine(model)
    words = engine.layout.pack(states)
    before, after = (engine.layout.pack(side) for side in zip(*steps, strict=True))
    of_states = engine.claims([prop for prop in properties if not prop.of_steps])
    of_steps = engine.claims([prop for prop in properties if prop.of_steps])
    for claims, batch in (
        (of_states, (words,)),
        (premise_claims(engine, properties), (words,)),
        (of_steps, (before, after)),
    ):
        compiled = CompiledClaims(claims.nodes, claims.layout)
        for part in (slice(None), slice(None, None, 2), slice(0, 1), slice(0, 0)):
            some = [side[:, part] for side in batch]
            expected = [mask.tolist() for mask in claims(*some)]
            assert [mask.tolist() for mask in compiled(*some)] == expected, "claims differ"


def _check_same_steps(found: Successors, expected: Successors) -> None:
    assert found.rows.tolist() == expected.rows.tolist(), "rows differ"
    assert found.instances.tolist() == expected.instances.tolist(), "instances differ"
    assert found.words.tolist() == expected.words.tolist(), "states differ"


def _some(model: Model, states: Sequence[State], pairs: Iterable[tuple[int, int]]) -> str:
    row, number = min(pairs)
    named = {cell.name: value for cell, value in zip(model.cells, states[row], strict=True)}
    return f"{model.instances[number]} in {named}"


def check_claims_agree(
    model: Model,
    properties: Sequence[Property],
    states: Sequence[State],
    steps: Sequence[tuple[State, State]],
    engine: VectorisedEngine | None = None,
) -> None:
    """Both engines give every claim and every premise the same truth."""
    reference, engine = ReferenceEngine(model), engine or VectorisedEngine(model)
    words = engine.layout.pack(states)
    before, after = (engine.layout.pack(side) for side in zip(*steps, strict=True))
    of_states = [prop for prop in properties if not prop.of_steps]
    of_steps = [prop for prop in properties if prop.of_steps]
    for prop, mask in zip(of_states, engine.claims(of_states)(words), strict=True):
        expected = [reference.holds(prop.claim, state) for state in states]
        assert mask.tolist() == expected, f"{prop.name} differs"
    for prop, mask in zip(of_steps, engine.claims(of_steps)(before, after), strict=True):
        expected = [reference.holds(prop.claim, *step) for step in steps]
        assert mask.tolist() == expected, f"{prop.name} differs"
    for prop in properties:
        if prop.premise is not None:
            premise = Property(f"premise of {prop.name}", "", prop.premise)
            (mask,) = engine.claims([premise])(words)
            expected = [reference.holds(prop.premise, state) for state in states]
            assert mask.tolist() == expected, f"the premise of {prop.name} differs"


# --- search -------------------------------------------------------------------------------------


def denials(properties: Iterable[Property]) -> list[Property]:
    """For each witness the property that it never happens: false, wherever the witness exists."""
    return [
        Property(f"never {prop.name}", "", _denial(prop), Sense.ALWAYS, prop.of_steps)
        for prop in properties
        if prop.sense is Sense.SOMETIMES
    ]


def _denial(prop: Property) -> Callable[..., bool]:
    return lambda *states: not_(prop.claim(*states))


def numbers(steps: Iterable[Instance]) -> tuple[int, ...]:
    """The numbers of action instances."""
    return tuple(instance.number for instance in steps)


def explore(
    model: Model,
    properties: Sequence[Property] = (),
    limits: Limits | None = None,
    **options: Any,
) -> Exploration:
    """One search, which its caller holds against the reference engine."""
    chosen = Options(**({"cross_check": False} | options))
    return Explorer(model, properties, limits, chosen).run()


def limits_of(graph: Graph) -> Limits:
    """What makes the explorer visit just the graph that the textbook search visited."""
    whole = len(graph.steps) == len(graph.states)
    return Limits(depth=None if whole else len(graph.levels) - 1)


def check_counts(found: Exploration, graph: Graph) -> None:
    """The explorer found as many states at each depth, and as many steps, as the textbook."""
    assert found.levels == graph.sizes, "levels differ"
    assert found.depth == len(graph.levels) - 1
    assert found.distinct_states == sum(graph.sizes)
    assert found.transitions == graph.transitions, "transitions differ"
    enabled: dict[str, int] = {action.name: 0 for action in found.model.protocol.actions}
    for _, instance, _ in graph.all_steps:
        enabled[instance.action.name] += 1
    assert {name: count.enabled for name, count in found.actions.items()} == enabled
    assert sum(count.new for count in found.actions.values()) == found.distinct_states - 1


def check_violations(found: Exploration, graph: Graph) -> None:
    """Each reported trace is the least of the shortest, replays, and ends in a violation."""
    expected = {
        prop.name: path
        for prop in found.properties
        if prop.sense is Sense.ALWAYS
        and (path := least_violation(found.model, graph, prop)) is not None
    }
    assert {v.property.name for v in found.violations} == set(expected), "verdicts differ"
    for violation in found.violations:
        path = numbers(violation.steps)
        assert path == expected[violation.property.name], f"{violation.property.name}: not least"
        assert violation.depth == len(path)
        check_ends_in_violation(found.model, violation.property, path)
    assert (found.verdict is Verdict.VIOLATED) == bool(expected)


def check_ends_in_violation(model: Model, prop: Property, path: tuple[int, ...]) -> None:
    """The path replays on the reference engine, and its end makes the property false."""
    states = replay(model, path)
    holds = ReferenceEngine(model).holds(prop.claim, *states[-prop.frames :])
    assert not holds, f"{prop.name} holds at the end of its trace"


def check_is_broken(model: Model, prop: Property) -> int:
    """The property fails in the model, and the report says where; after how many steps."""
    (violation,) = explore(model, [prop]).violations
    path = numbers(violation.steps)
    check_ends_in_violation(model, prop, path)
    last = replay(model, path)[-prop.frames :]
    values = ReferenceEngine(model).falsifying_values(prop.claim, *last)
    assert values is not None
    if prop.failure:
        told = prop.explain(values)
        assert told != prop.words, f"the template asks for what is not among {sorted(values)}"
    return violation.depth


def check_witnesses(found: Exploration, graph: Graph) -> None:
    """A witness is reached, and a premise noted, where some state or step makes it true."""
    engine = ReferenceEngine(found.model)
    for prop in found.properties:
        if prop.sense is Sense.SOMETIMES:
            some = any(
                engine.holds(prop.claim, *place)
                for place in (
                    ((before, after) for before, _, after in graph.all_steps)
                    if prop.of_steps
                    else ((state,) for state in graph.states)
                )
            )
            assert (prop.name in found.reached) == some, f"{prop.name}: reached or not"
        if prop.premise is not None:
            some = any(engine.holds(prop.premise, state) for state in graph.states)
            assert found.is_vacuous(prop) == (not some), f"{prop.name}: vacuous or not"
