"""The words that actions and properties are written in, on plain and on symbolic values alike.

On plain values each is ordinary Python; only when an argument is symbolic does it build a node.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable
from typing import Any, TypeVar, cast

from model.language import graph
from model.language.capture import recorder
from model.language.capture.expr import Expr, as_bool, as_int, node_of
from model.language.declare.containers import SetOf
from model.language.declare.entity import Entity
from model.language.graph import Node, Op

T = TypeVar("T")
E = TypeVar("E", bound=Entity)


class Unmet(Exception):  # noqa: N818  # an answer, not an error
    """A plain `require` did not hold: the action is not enabled."""


def require(*conditions: bool) -> None:
    """The action can happen only if all of `conditions` hold in the state before it."""
    if recorder.active is not None:
        recorder.active.require([node_of(condition, graph.TRUE) for condition in conditions])
        return
    for condition in conditions:
        if not condition:
            raise Unmet


def not_(condition: bool) -> bool:
    """`condition` does not hold."""
    if isinstance(condition, Expr):
        return as_bool(graph.negation(node_of(condition, graph.TRUE)))
    return not condition


def implies(premise: bool, conclusion: bool) -> bool:
    """`conclusion` holds wherever `premise` does."""
    return any_of(not_(premise), conclusion)


def all_of(*conditions: bool) -> bool:
    """Every one of `conditions` holds."""
    if any(isinstance(condition, Expr) for condition in conditions):
        nodes = [node_of(condition, graph.TRUE) for condition in conditions]
        return as_bool(graph.conjunction(*nodes))
    return builtins.all(conditions)


def any_of(*conditions: bool) -> bool:
    """At least one of `conditions` holds."""
    if any(isinstance(condition, Expr) for condition in conditions):
        nodes = [node_of(condition, graph.TRUE) for condition in conditions]
        return as_bool(graph.disjunction(*nodes))
    return builtins.any(conditions)


def choose(condition: bool, then: T, otherwise: T) -> T:
    """`then` where `condition` holds, else `otherwise`. Both are evaluated."""
    if recorder.active is not None:
        return cast(T, recorder.active.choose(condition, then, otherwise))
    return then if condition else otherwise


def minimum(a: int, b: int) -> int:
    """The smaller of two numbers."""
    if isinstance(a, Expr) or isinstance(b, Expr):
        return as_int(graph.minimum(*_numbers(a, b)))
    return a if a <= b else b


def maximum(a: int, b: int) -> int:
    """The larger of two numbers."""
    if isinstance(a, Expr) or isinstance(b, Expr):
        return as_int(graph.maximum(*_numbers(a, b)))
    return a if a >= b else b


def _numbers(*values: int) -> list[Node]:
    return [node_of(value, graph.constant(0)) for value in values]


def every(conditions: Iterable[bool]) -> bool:
    """`every(claim(x) for x in xs)`: the claim holds for all of them. True if there are none."""
    if recorder.active is not None:
        return as_bool(recorder.active.quantify(Op.FORALL, conditions))
    noted = _noted()
    for condition in conditions:
        if not condition:
            _note_witness(conditions)
            return False
        _forget_after(noted)
    return True


def some(conditions: Iterable[bool]) -> bool:
    """`some(claim(x) for x in xs)`: the claim holds for at least one. False if there are none."""
    if recorder.active is not None:
        return as_bool(recorder.active.quantify(Op.EXISTS, conditions))
    return builtins.any(conditions)


def count(conditions: Iterable[bool]) -> int:
    """`count(claim(x) for x in xs)`: for how many of them the claim holds."""
    if recorder.active is not None:
        return as_int(recorder.active.quantify(Op.COUNT, conditions))
    return sum(1 for condition in conditions if condition)


def is_majority(group: SetOf[E], of: SetOf[E]) -> bool:
    """Of the members of the set `of`, more than half are in `group`. Of nobody, nothing is.

    Of a condition: `is_majority(nodes.where(lambda node: node.votes_for(c)), of=voters)`.
    """
    if isinstance(of, Expr):
        return as_bool(graph.majority(node_of(group, like=of._node), of._node))
    return 2 * group.intersection(of).size > of.size


def largest(values: Iterable[int]) -> int:
    """`largest(value(x) for x in xs)` over a family, a table or the positions of a sequence."""
    if recorder.active is not None:
        return as_int(recorder.active.quantify(Op.LARGEST, values))
    return max(values)


def smallest(values: Iterable[int]) -> int:
    """`smallest(value(x) for x in xs)` over a family, a table or the positions of a sequence."""
    if recorder.active is not None:
        return as_int(recorder.active.quantify(Op.SMALLEST, values))
    return min(values)


def is_none(reference: object) -> bool:
    """The reference points to no member."""
    if isinstance(reference, Expr):
        return as_bool(graph.equal(reference._node, node_of(None, like=reference._node)))
    return reference is None


class Witness:
    """While active, notes for which values of the quantified variables a claim failed.

    Only for plain values: `with Witness() as found: claim(state)` leaves the names and values of
    the innermost failing `every`s in `found.values`.
    """

    _active: Witness | None = None

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}

    def __enter__(self) -> Witness:
        Witness._active = self
        return self

    def __exit__(self, *_: object) -> None:
        Witness._active = None


def _noted() -> dict[str, Any]:
    return Witness._active.values if Witness._active is not None else {}


def _forget_after(noted: dict[str, Any]) -> None:
    """Drop what was noted since: it failed within a part that holds."""
    if Witness._active is not None:
        Witness._active.values = noted


def _note_witness(conditions: Iterable[bool]) -> None:
    frame = getattr(conditions, "gi_frame", None)
    if Witness._active is not None and frame is not None:
        outer = {k: v for k, v in frame.f_locals.items() if not k.startswith(".")}
        Witness._active.values = outer | Witness._active.values
