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
from checker.core.engines.vectorised import compile_masks, compile_program, number_type
from model.language import graph
from model.language.errors import DomainError
from model.language.graph import BOOL, INT, Kind, Node, Op, Sort
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


# --- the rules one by one -----------------------------------------------------------------------

A, B, C = (graph.cell(k, 0, 1, BOOL) for k in FLAGS)
X, Y = graph.cell(4, -128, 127, INT), graph.cell(6, 0, 200, INT)
ONE, ZERO, TRUE, FALSE = graph.constant(1), graph.constant(0), graph.TRUE, graph.FALSE


@pytest.mark.parametrize(
    "found, expected",
    [
        (graph.conjunction(), TRUE),
        (graph.disjunction(), FALSE),
        (graph.conjunction(A, TRUE, A), A),
        (graph.conjunction(A, graph.negation(A)), FALSE),
        (graph.disjunction(B, A, graph.negation(B)), TRUE),
        (graph.conjunction(graph.conjunction(A, B), C), graph.conjunction(A, B, C)),
        (graph.negation(graph.negation(A)), A),
        (graph.equal(X, X), TRUE),
        (graph.equal(X, Y), graph.equal(Y, X)),
        (graph.equal(A, FALSE), graph.negation(A)),
        (graph.equal(X, graph.constant(500)), FALSE),
        (graph.less(X, graph.constant(128)), TRUE),
        (graph.less(Y, X), graph.less(Y, X)),
        (graph.at_most(ZERO, Y), TRUE),
        (graph.at_most(Y, graph.constant(-1)), FALSE),
        (graph.add(X, ZERO), X),
        (graph.subtract(X, X), ZERO),
        (graph.minimum(Y, graph.constant(200)), Y),
        (graph.maximum(Y, ZERO), Y),
        (graph.choose(A, X, X), X),
        (graph.choose(graph.negation(A), X, Y), graph.choose(A, Y, X)),
        (graph.choose(A, TRUE, B), graph.disjunction(A, B)),
        (graph.choose(A, B, FALSE), graph.conjunction(A, B)),
        (graph.bit_and(Y, graph.constant(255)), Y),
        (graph.bit_or(Y, ZERO), Y),
    ],
)
def test_a_simplification_gives_the_simpler_node(found, expected):
    assert found is expected


def test_constants_of_different_sorts_are_different_nodes():
    references = [graph.constant(1, Sort(Kind.REF, family)) for family in "ab"]
    nodes = {TRUE, ONE, *references}
    assert len(nodes) == 4


def test_cells_of_different_frames_are_different_nodes():
    assert graph.cell(0, 0, 1, INT, frame=0) is not graph.cell(0, 0, 1, INT, frame=1)


def test_nodes_that_nobody_uses_are_forgotten():
    import gc

    from model.language.graph import nodes

    before = len(nodes._interned)
    built = [graph.add(X, graph.constant(10_000 + k)) for k in range(50)]
    assert len(nodes._interned) >= before + 50
    del built
    gc.collect()
    assert len(nodes._interned) <= before + 5


# --- variables and substitution -----------------------------------------------------------------

P = graph.variable("p", INT, "rows")
Q = graph.variable("q", INT, "rows")


def test_free_variables_are_those_that_no_quantifier_binds():
    body = graph.less(P, Q)
    assert body.free == {P, Q}
    assert graph.quantified(Op.FORALL, P, body).free == {Q}
    assert graph.quantified(Op.EXISTS, Q, graph.quantified(Op.FORALL, P, body)).free == frozenset()


def test_substitution_replaces_free_variables_only_and_simplifies():
    body = graph.less(P, Q)
    inner = graph.quantified(Op.FORALL, P, body)
    assert graph.substitute(body, {P: Q}) is FALSE
    assert graph.substitute(body, {P: ZERO, Q: ONE}) is TRUE
    assert graph.substitute(inner, {P: ONE}) is inner
    assert graph.substitute(inner, {Q: ONE}) is graph.quantified(Op.FORALL, P, graph.less(P, ONE))
    read = graph.read("x", (graph.add(P, ONE),), INT)
    assert graph.substitute(read, {P: ZERO}) is graph.read("x", (ONE,), INT)


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


def test_a_quantifier_over_a_constant_is_that_constant():
    assert graph.quantified(Op.FORALL, P, TRUE) is TRUE
    assert graph.quantified(Op.EXISTS, P, FALSE) is FALSE


# --- number types -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "low, high, expected",
    [
        (0, 127, np.int8), (-128, 0, np.int8), (0, 128, np.int16), (-129, 0, np.int16),
        (-32_769, 0, np.int32), (0, 2**31 - 1, np.int32), (0, 2**31, np.int64),
    ],
)  # fmt: skip
def test_numbers_take_the_smallest_type_that_holds_them(low, high, expected):
    assert number_type(low, high) is expected


@pytest.mark.parametrize("low, high", [(0, 2**63), (-(2**63) - 1, 0)])
def test_numbers_beyond_64_bits_are_refused(low, high):
    assert number_type(max(low, -(2**63)), min(high, 2**63 - 1)) is np.int64
    with pytest.raises(DomainError, match="do not fit 64 bits"):
        number_type(low, high)


def test_an_expression_shows_itself_in_one_line():
    assert graph.show(graph.conjunction(A, graph.less(X, ONE))).count("\n") == 0
    assert graph.show(graph.read("replicas.end", (P,), INT)) == "replicas.end[p]"
    assert repr(graph.add(P, ONE)) == "add(p, 1)"


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
