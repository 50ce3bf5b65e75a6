"""Symbolic values: what an action handles in place of booleans, numbers and sets while captured.

Each wraps a node of the graph and gives it Python's operators. What cannot be captured (`if`,
`and`, `or`, `not`, `in`, chained comparison, `min`, `range`, ...) raises a `CaptureError` that
names the file, the line and what to write instead.
"""

from __future__ import annotations

import linecache
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn, cast

from model.language import graph
from model.language.errors import CaptureError
from model.language.graph import Kind, Node

_LANGUAGE = str(Path(__file__).parent.parent)

_REMEDIES = (
    (r"\bmin\(|\bmax\(", "min and max", "minimum(a, b), maximum(a, b)"),
    (r"\bsorted\(|\.sort\(", "sorting", "smallest(...) or largest(...)"),
    (r"[<>=]=?[^<>=()]*[^<>=!()][<>]=?", "a chained comparison", "all_of(a <= b, b <= c)"),
    (r"\bfor\b.*\bif\b", "`if` in a comprehension", "implies(a, b), all_of or choose(c, a, b)"),
    (r"\band\b", "`and`", "all_of(a, b)"),
    (r"\bor\b", "`or`", "any_of(a, b)"),
    (r"\bnot\s+in\b|\bin\b(?!.*\bfor\b)", "`in`", "group.contains(member)"),
    (r"\bnot\b", "`not`", "not_(a)"),
    (r"\bwhile\b", "`while`", "smallest(...), largest(...) or every(...)"),
    (r"\bif\b.*\belse\b", "a conditional expression", "choose(condition, then, otherwise)"),
    (r"\bif\b|\belif\b", "`if`", "require(...) or choose(c, a, b)"),
    (r"\bassert\b", "`assert`", "require(...), or a property"),
    (
        r"",
        "asking whether it is true",
        "require(...), choose(...), all_of(...), any_of(...), not_(...)",
    ),
)


def _user_frame() -> tuple[str, int, str]:
    """File, line number and text of the innermost line outside the language itself."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_LANGUAGE):
        frame = frame.f_back
    path, line = frame.f_code.co_filename, frame.f_lineno
    return path, line, linecache.getline(path, line).strip()


def refuse(problem: str, at: tuple[str, int] | None = None) -> NoReturn:
    """Raise a `CaptureError` for `problem`, at the user's line or at another file and line."""
    path, line = at or _user_frame()[:2]
    raise CaptureError(f"{Path(path).name}:{line}: {problem}")


def refuse_truth() -> NoReturn:
    """Raise a `CaptureError` for Python asking whether a symbolic value is true."""
    path, line, text = _user_frame()
    text = re.sub(r"\bfor\b[^()]*?\bin\b", "for", text)
    problem, instead = next((p, i) for pattern, p, i in _REMEDIES if re.search(pattern, text))
    raise CaptureError(
        f"{Path(path).name}:{line}: {problem} on a value read from the state: write {instead}"
    )


class Expr:
    """A symbolic value. Its node is the captured expression."""

    __slots__ = ("node",)
    kind: Kind

    def __init__(self, node: Node) -> None:
        if node.sort.kind is not self.kind:
            refuse(f"a value of kind {node.sort.kind} where one of kind {self.kind} is needed")
        self.node = node

    def __bool__(self) -> bool:
        refuse_truth()

    def __index__(self) -> int:
        refuse("range(), list indexing or int() on a value read from the state: write a quantifier")

    def __iter__(self) -> Iterator[Any]:
        refuse("iteration over a value that is not a collection")

    def __eq__(self, other: object) -> Any:
        return BoolExpr(graph.equal(self.node, node_of(other, like=self.node)))

    def __ne__(self, other: object) -> Any:
        return BoolExpr(graph.negation(graph.equal(self.node, node_of(other, like=self.node))))

    def __hash__(self) -> int:
        return hash(self.node)

    def __repr__(self) -> str:
        return graph.show(self.node)


class BoolExpr(Expr):
    """A symbolic boolean."""

    __slots__ = ()
    kind = Kind.BOOL

    def __and__(self, other: Any) -> BoolExpr:
        return BoolExpr(graph.conjunction(self.node, node_of(other, like=self.node)))

    def __or__(self, other: Any) -> BoolExpr:
        return BoolExpr(graph.disjunction(self.node, node_of(other, like=self.node)))

    __rand__ = __and__
    __ror__ = __or__

    def __invert__(self) -> NoReturn:
        refuse("`~` means something else on a plain boolean: write not_(a)")


class IntExpr(Expr):
    """A symbolic integer."""

    __slots__ = ()
    kind = Kind.INT

    def _number(self, other: Any) -> Node:
        return node_of(other, like=self.node)

    def __add__(self, other: Any) -> IntExpr:
        return IntExpr(graph.add(self.node, self._number(other)))

    def __radd__(self, other: Any) -> IntExpr:
        return IntExpr(graph.add(self._number(other), self.node))

    def __sub__(self, other: Any) -> IntExpr:
        return IntExpr(graph.subtract(self.node, self._number(other)))

    def __rsub__(self, other: Any) -> IntExpr:
        return IntExpr(graph.subtract(self._number(other), self.node))

    def __lt__(self, other: Any) -> Any:
        return BoolExpr(graph.less(self.node, self._number(other)))

    def __le__(self, other: Any) -> Any:
        return BoolExpr(graph.at_most(self.node, self._number(other)))

    def __gt__(self, other: Any) -> Any:
        return BoolExpr(graph.less(self._number(other), self.node))

    def __ge__(self, other: Any) -> Any:
        return BoolExpr(graph.at_most(self._number(other), self.node))

    def _no_arithmetic(self, other: Any) -> NoReturn:
        refuse("arithmetic other than + and - on a value read from the state")

    __mul__ = __rmul__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = _no_arithmetic
    __truediv__ = __rtruediv__ = __pow__ = __rpow__ = _no_arithmetic
    __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = _no_arithmetic
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = _no_arithmetic

    def __neg__(self) -> IntExpr:
        return IntExpr(graph.subtract(graph.constant(0), self.node))


class RefExpr(Expr):
    """A symbolic reference: a member of a family, or none."""

    __slots__ = ()
    kind = Kind.REF

    def __getattr__(self, name: str) -> NoReturn:
        refuse(
            f"`.{name}` of a reference that may be none: quantify over the members and compare, "
            "as in every(implies(reference == member, ...) for member in members)"
        )


def node_of(value: object, like: Node | None = None) -> Node:
    """The node of a symbolic or plain value; `like` gives the sort that a plain one should have."""
    if isinstance(value, Expr):
        node = value.node
    elif isinstance(value, bool):
        node = graph.constant(value)
    elif isinstance(value, int):
        node = graph.constant(int(value))
    elif value is None and like is not None and like.sort.kind is Kind.REF:
        node = graph.constant(graph.NONE, like.sort)
    else:
        found = getattr(value, "_reference_node", None)
        if found is None:
            refuse(f"{value!r} where a boolean, a number, a member or none is needed")
        node = found()
    if like is not None and node.sort != like.sort:
        refuse(
            f"a value of kind {node.sort.kind} {node.sort.family} where one of kind "
            f"{like.sort.kind} {like.sort.family} is needed"
        )
    return node


def wrap(node: Node) -> Expr:
    """`node` as a symbolic value of its kind (sets are wrapped by `collections`)."""
    return {Kind.BOOL: BoolExpr, Kind.INT: IntExpr, Kind.REF: RefExpr}[node.sort.kind](node)


def as_bool(node: Node) -> bool:
    """`node` for code that is written for plain booleans: types pretend, values are symbolic."""
    return cast(bool, BoolExpr(node))


def as_int(node: Node) -> int:
    """`node` for code that is written for plain numbers: types pretend, values are symbolic."""
    return cast(int, IntExpr(node))
