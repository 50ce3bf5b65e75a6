"""What the expression graph promises: equal expressions are one node; simplifying keeps meaning.

Random expressions are evaluated in three ways: plainly in Python, by folding the simplified graph,
and by the NumPy program made from it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from checker.core.engines import vectorised
from checker.core.engines.vectorised import compile_masks, compile_program
from model.language import graph
from model.language.graph import BOOL, INT, Infix, Kind, Node, Op, Sort
from tests.support.cells import layout_of

RANGES = [
    (0, 1), (0, 0), (5, 5), (-1, 2), (-128, 127), (-100, 120), (0, 200), (100, 356),
    (-30_000, 30_000), (-40_000, 40_000), (0, 65_535), (-(2**31), 2**31 - 1),
    (-(2**33), 2**33), (2**40, 2**40 + 3),
]  # fmt: skip
BITS = [(0, 1), (0, 7), (0, 127), (0, 255), (0, 65_535), (0, 2**40)]
LAYOUT = layout_of(*RANGES, *BITS, bool, bool, bool)
NUMBERS = range(len(RANGES))
MASKS = range(len(RANGES), len(RANGES) + len(BITS))
FLAGS = range(len(RANGES) + len(BITS), len(RANGES) + len(BITS) + 3)

Tree = Any
"""An expression as nested tuples: ("cell", position), ("const", value) or (operator, *trees)."""

PLAIN: dict[str, Callable[..., Any]] = {
    "not": operator.not_,
    "and": lambda *args: all(args),
    "or": lambda *args: any(args),
    "eq": operator.eq,
    "lt": operator.lt,
    "le": operator.le,
    "add": operator.add,
    "sub": operator.sub,
    "min": min,
    "max": max,
    "ite": lambda c, a, b: a if c else b,
    "bitand": operator.and_,
    "bitor": operator.or_,
}
BUILD: dict[str, Callable[..., Node]] = {
    "not": graph.negation,
    "and": graph.conjunction,
    "or": graph.disjunction,
    "eq": graph.equal,
    "lt": graph.less,
    "le": graph.at_most,
    "add": graph.add,
    "sub": graph.subtract,
    "min": graph.minimum,
    "max": graph.maximum,
    "ite": graph.choose,
    "bitand": graph.bit_and,
    "bitor": graph.bit_or,
}


def _extend(children: tuple[st.SearchStrategy[Tree], ...]) -> tuple[st.SearchStrategy[Tree], ...]:
    """Booleans, numbers and bit masks, one level deeper."""
    flag, number, mask = children
    either = number | mask
    flags = st.one_of(
        st.tuples(st.just("not"), flag),
        st.tuples(st.sampled_from(["and", "or"]), flag, flag),
        st.tuples(st.sampled_from(["and", "or"]), flag, flag, flag),
        st.tuples(st.just("eq"), flag, flag),
        st.tuples(st.sampled_from(["eq", "lt", "le"]), either, either),
        st.tuples(st.just("ite"), flag, flag, flag),
    )
    numbers = st.one_of(
        st.tuples(st.sampled_from(["add", "sub", "min", "max"]), either, either),
        st.tuples(st.just("ite"), flag, either, either),
    )
    masks = st.one_of(
        st.tuples(st.sampled_from(["bitand", "bitor"]), mask, mask),
        st.tuples(st.just("ite"), flag, mask, mask),
    )
    return flag | flags, number | numbers, mask | masks


def _trees() -> tuple[st.SearchStrategy[Tree], st.SearchStrategy[Tree]]:
    def leaves(positions: range, constants: st.SearchStrategy[Any]) -> st.SearchStrategy[Tree]:
        cells = st.tuples(st.just("cell"), st.sampled_from(positions))
        return cells | st.tuples(st.just("const"), constants)

    edges = [0, 1, -1, 2, 127, 128, -128, -129, 255, 32_767, 32_768, 2**31, -(2**31) - 1, 2**35]
    level: tuple[st.SearchStrategy[Tree], ...] = (
        leaves(FLAGS, st.booleans()),
        leaves(NUMBERS, st.sampled_from(edges)),
        leaves(MASKS, st.sampled_from([0, 1, 2, 5, 127, 128, 255, 256, 2**20])),
    )
    for _ in range(3):
        level = _extend(level)
    return level[0], level[1] | level[2]


PATIENT = settings(max_examples=5000, database=None, phases=[Phase.generate], derandomize=True)
FLAG_TREES, NUMBER_TREES = _trees()
STATES = st.tuples(
    *(st.integers(low, high) | st.sampled_from([low, high]) for low, high in (*RANGES, *BITS)),
    *[st.integers(0, 1)] * 3,
)


def plainly(tree: Tree, state: tuple[int, ...]) -> Any:
    """The value of a tree, by Python's own operators."""
    op, *args = tree
    if op == "const":
        return args[0]
    if op == "cell":
        return bool(state[args[0]]) if args[0] in FLAGS else state[args[0]]
    return PLAIN[op](*(plainly(arg, state) for arg in args))


def build(tree: Tree) -> Node:
    """The node of a tree, by the graph's simplifying constructors."""
    op, *args = tree
    if op == "const":
        return graph.constant(args[0])
    if op == "cell":
        field = args[0]
        if field in FLAGS:
            return graph.cell(field, 0, 1, BOOL)
        low, high = (*RANGES, *BITS)[field]
        return graph.cell(field, low, high, INT)
    return BUILD[op](*(build(arg) for arg in args))


def fold(node: Node, state: tuple[int, ...]) -> Any:
    """The value of a node."""
    if node.op is Op.CONST:
        return node.data
    if node.op is Op.CELL:
        value = state[node.data[1]]
        return bool(value) if node.sort is BOOL else value
    return PLAIN[node.op](*(fold(arg, state) for arg in node.args))


def keeps_meaning(tree: Tree, state: tuple[int, ...]) -> bool:
    """The simplified graph has the tree's value, and its range holds it."""
    node = build(tree)
    value = plainly(tree, state)
    assert node.low is not None and node.high is not None
    return bool(fold(node, state) == value and node.low <= int(value) <= node.high)


def program_keeps_meaning(trees: list[Tree], states: list[tuple[int, ...]]) -> bool:
    """The NumPy program has the trees' values on every state."""
    program = compile_program([build(tree) for tree in trees], LAYOUT)
    results = program(LAYOUT.pack(states), None)
    return all(
        np.broadcast_to(found, len(states)).astype(object).astype(int).tolist()
        == [int(plainly(tree, state)) for state in states]
        for tree, found in zip(trees, results, strict=True)
    )


@given(FLAG_TREES | NUMBER_TREES, STATES)
@settings(max_examples=200, deadline=None)
def test_simplifying_keeps_the_value_and_the_range_holds_it(tree, state):
    assert keeps_meaning(tree, state)


@given(
    st.lists(FLAG_TREES | NUMBER_TREES, min_size=1, max_size=4),
    st.lists(STATES, min_size=1, max_size=5),
)
@settings(max_examples=60, deadline=None)
def test_the_numpy_program_gives_the_values_of_the_expressions(trees, states):
    assert program_keeps_meaning(trees, states)


@given(st.lists(FLAG_TREES, min_size=1, max_size=4), st.lists(STATES, min_size=1, max_size=5))
@settings(max_examples=100, deadline=None)
def test_a_program_of_conditions_gives_one_boolean_a_state_even_for_constants(trees, states):
    masks = compile_masks([build(tree) for tree in trees], LAYOUT)(LAYOUT.pack(states))
    for tree, mask in zip(trees, masks, strict=True):
        assert mask.dtype == np.bool_
        assert mask.tolist() == [plainly(tree, state) for state in states]


@given(FLAG_TREES | NUMBER_TREES)
@settings(max_examples=100, deadline=None)
def test_building_an_expression_twice_gives_the_same_object(tree):
    assert build(tree) is build(tree)


@given(FLAG_TREES | NUMBER_TREES, STATES)
@settings(max_examples=150, deadline=None)
def test_rebuilding_with_its_own_arguments_changes_nothing(tree, state):
    node = build(tree)
    assert graph.rebuild(node, node.args) is node
    again = graph.rebuild(node, tuple(graph.rebuild(arg, arg.args) for arg in node.args))
    assert fold(again, state) == fold(node, state)


# --- what the laws above are worth --------------------------------------------------------------


def _too_sure(a: Node, b: Node) -> Node:
    """The mistake: `a <= b` by their ranges is taken for `a < b`."""
    if a.high is not None and b.low is not None and a.high <= b.low:
        return graph.TRUE
    return graph.less(a, b)


def _low_bits(a: Node, b: Node) -> Node:
    """The mistake: a mask that covers the lowest bit is taken to cover all."""
    return a if b.op is Op.CONST and b.data & 1 else graph.bit_and(a, b)


@pytest.mark.parametrize(
    "op, broken",
    [
        ("lt", _too_sure),
        ("bitand", _low_bits),
        ("min", graph.maximum),
        ("ite", lambda c, a, b: graph.choose(c, b, a)),
        ("or", lambda *args: graph.disjunction(*args[:-1])),
        ("sub", lambda a, b: graph.subtract(b, a)),
    ],
)
def test_a_wrong_simplification_is_noticed(op, broken, monkeypatch):
    monkeypatch.setitem(BUILD, op, broken)
    examples = st.tuples(FLAG_TREES | NUMBER_TREES, STATES)
    find(examples, lambda pair: not keeps_meaning(*pair), settings=PATIENT)


@pytest.mark.filterwarnings("ignore")
def test_a_number_type_that_is_too_small_is_noticed(monkeypatch):
    monkeypatch.setattr(vectorised, "number_type", lambda low, high: np.int16)
    examples = st.tuples(NUMBER_TREES.map(lambda tree: [tree]), STATES.map(lambda state: [state]))

    def fails(pair: Any) -> bool:
        try:
            return not program_keeps_meaning(*pair)
        except (OverflowError, TypeError):
            return True

    find(examples, fails, settings=PATIENT)


# --- substitution and ranges ---------------------------------------------------------------------


@given(FLAG_TREES | NUMBER_TREES, STATES, STATES)
@settings(max_examples=150, deadline=None)
def test_substituting_values_for_variables_is_evaluating(tree, state, other):
    """Cells replaced by variables, and those by the values of another state."""
    cells = {
        build(("cell", k)): graph.variable(f"v{k}", BOOL if k in FLAGS else INT, "")
        for k in range(len(state))
    }
    opened = _replace(build(tree), cells)
    values = {
        cells[build(("cell", k))]: graph.constant(bool(value) if k in FLAGS else value)
        for k, value in enumerate(other)
    }
    closed = graph.substitute(opened, values)
    assert closed.free == frozenset()
    assert fold(closed, state) == plainly(tree, other)


def _replace(node: Node, cells: dict[Node, Node]) -> Node:
    if node in cells:
        return cells[node]
    return graph.rebuild(node, tuple(_replace(arg, cells) for arg in node.args))


@pytest.mark.parametrize("name", ["eq", "lt", "le", "add", "sub", "min", "max"])
def test_what_ranges_decide_is_so_for_every_value_in_them(name):
    """All pairs of small ranges: apart, touching, overlapping, one in the other, single values."""
    ends = range(-2, 3)
    ranges = [(low, high) for low in ends for high in ends if low <= high]
    for first in ranges:
        for second in ranges:
            node = BUILD[name](graph.cell(0, *first, INT), graph.cell(1, *second, INT))
            results = {
                int(PLAIN[name](a, b))
                for a in range(first[0], first[1] + 1)
                for b in range(second[0], second[1] + 1)
            }
            if node.op is Op.CONST:
                assert results == {int(node.data)}
            assert node.low is not None and node.high is not None
            assert node.low <= min(results) and max(results) <= node.high


# --- in words ------------------------------------------------------------------------------------


def test_expressions_are_written_infix_and_fields_by_their_paths():
    broker = Sort(Kind.REF, "brokers")
    one = graph.variable("broker", broker, "brokers")
    offset = graph.variable("brokers.log%1", INT, "brokers.log")
    end = graph.read("brokers.log.end", (one,), INT)
    epoch = graph.read("brokers.log.epoch", (one, offset), INT)
    isr, elr = (graph.read(name, (), Sort(Kind.SET, "brokers")) for name in ("isr", "elr"))
    without = graph.set_operation(Op.DIFFERENCE, isr, elr)
    condition = graph.conjunction(
        graph.negation(graph.less(offset, end)),
        graph.negation(graph.equal(epoch, graph.constant(0, INT))),
        graph.equal(without, graph.no_members("brokers")),
    )
    plain = Infix().words(condition)
    paths = {
        "brokers.log.end": ("brokers", object(), "log", "end"),
        "brokers.log.epoch": ("brokers", object(), "log", object(), "epoch"),
    }
    assert set(plain.split(" and ")) == {
        "(brokers.log.end[broker] <= log1)",
        "(brokers.log.epoch[broker, log1] != 0)",
        "(isr within elr)",
    }
    assert "(broker.log[log1].epoch != 0)" in Infix(paths=paths).words(condition)
    assert "(b0.log.end <= log1)" in Infix({one: "b0"}, paths).words(condition)
    assert Infix({condition: "it holds"}).words(graph.negation(condition)) == "not(it holds)"
