"""The rules of the expression graph one by one, and the number types of its programs."""

from __future__ import annotations

import numpy as np
import pytest

from checker.core.engines.vectorised import number_type
from model.language import graph
from model.language.errors import DomainError
from model.language.graph import BOOL, INT, Kind, Op, Sort

A, B, C = (graph.cell(k, 0, 1, BOOL) for k in range(3))
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


@pytest.mark.slow
def test_nodes_that_nobody_uses_are_forgotten():
    import gc

    from model.language.graph import nodes

    before = len(nodes._interned)
    built = [graph.add(X, graph.constant(10_000 + k)) for k in range(50)]
    assert len(nodes._interned) >= before + 50
    del built
    gc.collect()
    assert len(nodes._interned) <= before + 5


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


def test_a_quantifier_over_a_constant_is_that_constant():
    assert graph.quantified(Op.FORALL, P, TRUE) is TRUE
    assert graph.quantified(Op.EXISTS, P, FALSE) is FALSE


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
