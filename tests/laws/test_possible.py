"""What can still happen from a state: never less than what does, and no more where cells are apart.

Verdicts of reduced searches rest on it, see `test_reduced_search.py`.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from unittest.mock import patch

import numpy as np
import numpy.typing as npt
import pytest

from checker.core.engines.layout import Words
from checker.core.engines.vectorised import VectorisedEngine
from checker.core.native import object_code
from checker.core.search.possible import Possible
from model.language import graph
from model.language.errors import DomainError
from model.language.graph import Node
from model.language.ground import cell_node
from tests.laws.generator import Example
from tests.laws.reduction_laws import Untouched, example_of, little_example
from tests.laws.test_generated_protocols import hold

_STATES = 300
_THIRD = {0: (), 1: (0,), 2: (1, 2)}  # what may be assigned, by what a third cell is


def test_of_cells_apart_exactly_what_can_be_is_found():
    steps = [
        (f"all_of(s.c{by} == {third})", f"s.c{cell} = {value}")
        for cell, by in ((0, 2), (1, 3))
        for third, values in _THIRD.items()
        for value in values
    ]
    model = example_of(steps, {}, [0, 0, 0, 0]).model.wide
    x, y = (cell_node(0, model.cells[k]) for k in range(2))
    numbers: dict[Node, Callable[[int, int], int]] = {
        x: lambda a, b: a,
        graph.minimum(x, y): min,
        graph.maximum(x, y): max,
        graph.add(x, y): lambda a, b: a + b,
        graph.subtract(x, y): lambda a, b: a - b,
        graph.choose(graph.less(x, graph.constant(1)), y, graph.constant(7)): lambda a, b: (
            b if a < 1 else 7
        ),
        graph.bit_and(x, graph.constant(2)): lambda a, b: a & 2,
        graph.bit_or(x, graph.constant(1)): lambda a, b: a | 1,
        graph.bit_or(x, graph.choose(graph.less(y, graph.constant(2)), graph.constant(1),
                                     graph.constant(2))): lambda a, b: a | (1 if b < 2 else 2),
    }  # fmt: skip
    conditions: dict[Node, Callable[[int, int], bool]] = {
        graph.equal(x, y): lambda a, b: a == b,
        graph.less(x, y): lambda a, b: a < b,
        graph.at_most(x, y): lambda a, b: a <= b,
    }
    for node, number in numbers.items():
        for k in range(-1, 5):
            value = graph.constant(k)
            conditions |= {
                graph.equal(node, value): _compared(number, operator.eq, k),
                graph.less(node, value): _compared(number, operator.lt, k),
                graph.at_most(value, node): _compared(number, operator.ge, k),
            }
    conditions |= {graph.negation(node): _opposite(holds) for node, holds in conditions.items()}
    engine = VectorisedEngine(model)
    possible = Possible(engine.layout, engine.actions, [*conditions], [0, 1, 2, 3])
    starts = [*itertools.product(range(3), repeat=4)]
    found = _bits(possible(engine.layout.pack(starts)))[:, len(engine.actions) :]
    for start, bits in zip(starts, found, strict=True):
        firsts = {start[0], *_THIRD[start[2]]}
        seconds = {start[1], *_THIRD[start[3]]}
        expected = [
            any(holds(a, b) for a in firsts for b in seconds) for holds in conditions.values()
        ]
        assert bits[: len(expected)].tolist() == expected


def _compared(
    number: Callable[[int, int], int], sign: Callable[[int, int], bool], k: int
) -> Callable[[int, int], bool]:
    return lambda a, b: sign(number(a, b), k)


def _opposite(holds: Callable[[int, int], bool]) -> Callable[[int, int], bool]:
    return lambda a, b: not holds(a, b)


def test_what_happens_was_possible_in_little_protocols():
    for seed in range(10):
        _what_happens_was_possible(little_example(seed))


@pytest.mark.slow
def test_what_happens_was_possible_in_generated_protocols():
    assert hold(_what_happens_was_possible, 40) > 20


def _what_happens_was_possible(example: Example) -> None:
    """What is enabled and what is true is possible, and after a step nothing else becomes so."""
    model, engine = example.model, VectorisedEngine(example.model)
    conditions = [model.ground_claim(p.claim) for p in example.properties if not p.of_steps]
    conditions += [graph.negation(condition) for condition in conditions]
    conditions += [action.guard for action in engine.actions]
    cells = {position for action in engine.actions for position in action.assignments}
    with patch.object(object_code, "kept_code", Untouched):
        possible = Possible(engine.layout, engine.actions, conditions, cells)
    words = engine.layout.pack([model.initial_state])
    try:
        while words.shape[1] < _STATES:
            steps = engine.expand(words)
            together = np.concatenate([words, steps.words], axis=1)
            before, after = _bits(possible(words)), _bits(possible(steps.words))
            assert not (after & ~before[steps.rows]).any(), "more is possible after a step"
            new = np.unique(together, axis=1)
            if new.shape[1] == words.shape[1]:
                break
            words = new
    except DomainError:
        pass
    found = _bits(possible(words))
    for place, (action, enabled) in enumerate(
        zip(engine.actions, engine.enabled(words).values(), strict=True)
    ):
        if action.assignments:
            assert not (enabled & ~found[:, place]).any(), "what is enabled is not possible"
    for place, true in enumerate(engine.judging(conditions)(words), len(engine.actions)):
        assert not (true & ~found[:, place]).any(), "what is true is not possible"


def _bits(words: Words) -> npt.NDArray[np.bool_]:
    """A row of truths for each state."""
    rows = np.ascontiguousarray(words.T).view(np.uint8)
    return np.unpackbits(rows, axis=1, bitorder="little").astype(np.bool_)
