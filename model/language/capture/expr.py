"""Symbolic values: what an action handles in place of booleans, numbers and sets while captured.

Each wraps a node of the graph and gives it Python's operators. What cannot be captured (`if`,
`and`, `or`, `not`, `in`, chained comparison, `min`, `range`, ...) raises a `CaptureError` that
names the file, the line and what to write instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import IntEnum
from typing import Any, NoReturn, cast

from model.language import graph
from model.language.declare.domains import Bound
from model.language.declare.view import View
from model.language.graph import INT, Kind, Node, Sort
from model.language.refusal import refuse, refuse_hashing, refuse_text, refuse_truth


class Expr:
    """A symbolic value. Its node is the captured expression."""

    __slots__ = ("_node",)
    _kind: Kind

    def __init__(self, node: Node) -> None:
        if node.sort.kind is not self._kind:
            refuse(f"a value of kind {node.sort.kind} where one of kind {self._kind} is needed")
        self._node = node

    def _make(self, node: Node) -> Expr:
        """`node` as a value of this one's kind."""
        return wrap(node)

    def __bool__(self) -> bool:
        refuse_truth()

    def __index__(self) -> int:
        refuse("range(), list indexing or int() on a value read from the state: write a quantifier")

    def __iter__(self) -> Iterator[Any]:
        refuse("iteration over a value that is not a collection")

    def __eq__(self, other: object) -> Any:
        return BoolExpr(graph.equal(self._node, node_of(other, like=self._node)))

    def __ne__(self, other: object) -> Any:
        return BoolExpr(graph.negation(graph.equal(self._node, node_of(other, like=self._node))))

    def __hash__(self) -> int:
        return refuse_hashing()

    def __repr__(self) -> str:
        refuse_text()
        return graph.show(self._node)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        refuse(f"`.{name}` of a value of kind {self._kind} read from the state: write a comparison")


def _refusing(problem: str) -> Callable[..., NoReturn]:
    def refused(self: Expr, *_: object) -> NoReturn:
        refuse(problem.format(self._kind))

    return refused


_REFUSED = {
    "`*` on a value of kind {}: write n + n for n * 2, and choose(c, a, b) for a few cases": (
        "mul rmul"
    ),
    "arithmetic other than + and - on a value of kind {}: write choose(c, a, b)": (
        "add radd sub rsub floordiv rfloordiv mod rmod truediv rtruediv pow rpow divmod "
        "rdivmod matmul rmatmul lshift rlshift rshift rrshift and rand or ror neg pos abs round "
        "trunc floor ceil"
    ),
    "`^` on a value read from the state, of kind {}: write a != b": "xor rxor",
    "an order of values of kind {}, which have none: write ==": "lt le gt ge",
    "`in`, indexing or len() on a value of kind {}: write a quantifier": (
        "contains getitem setitem delitem len reversed"
    ),
    "a call of what is read from the state, of kind {}: write a comparison": "call enter",
}
for _problem, _names in _REFUSED.items():
    for _name in _names.split():
        setattr(Expr, f"__{_name}__", _refusing(_problem))


class BoolExpr(Expr):
    """A symbolic boolean."""

    __slots__ = ()
    _kind = Kind.BOOL

    def __and__(self, other: Any) -> BoolExpr:
        return BoolExpr(graph.conjunction(self._node, node_of(other, like=self._node)))

    def __or__(self, other: Any) -> BoolExpr:
        return BoolExpr(graph.disjunction(self._node, node_of(other, like=self._node)))

    __rand__ = __and__
    __ror__ = __or__

    def __invert__(self) -> NoReturn:
        refuse("`~` means something else on a plain boolean: write not_(a)")


class IntExpr(Expr):
    """A symbolic integer; `names` is the enumeration that it is a member of, if there is one."""

    __slots__ = ("_names",)
    _kind = Kind.INT

    def __init__(self, node: Node, names: type[IntEnum] | None = None) -> None:
        super().__init__(node)
        self._names = names

    def __eq__(self, other: object) -> Any:
        refuse_other_names(self._names, other)
        return super().__eq__(other)

    def __ne__(self, other: object) -> Any:
        refuse_other_names(self._names, other)
        return super().__ne__(other)

    __hash__ = Expr.__hash__

    def _number(self, other: Any) -> Node:
        return node_of(other, like=self._node)

    def __add__(self, other: Any) -> IntExpr:
        return IntExpr(graph.add(self._node, self._number(other)))

    def __radd__(self, other: Any) -> IntExpr:
        return IntExpr(graph.add(self._number(other), self._node))

    def __sub__(self, other: Any) -> IntExpr:
        return IntExpr(graph.subtract(self._node, self._number(other)))

    def __rsub__(self, other: Any) -> IntExpr:
        return IntExpr(graph.subtract(self._number(other), self._node))

    def __lt__(self, other: Any) -> Any:
        return BoolExpr(graph.less(self._node, self._number(other)))

    def __le__(self, other: Any) -> Any:
        return BoolExpr(graph.at_most(self._node, self._number(other)))

    def __gt__(self, other: Any) -> Any:
        return BoolExpr(graph.less(self._number(other), self._node))

    def __ge__(self, other: Any) -> Any:
        return BoolExpr(graph.at_most(self._number(other), self._node))

    def __neg__(self) -> IntExpr:
        return IntExpr(graph.subtract(graph.constant(0), self._node))


def refuse_other_names(names: type[IntEnum] | None, value: object) -> None:
    """`CaptureError` if a value is a member of another enumeration than `names`."""
    own = value._names if isinstance(value, IntExpr) else type(value)
    if names is None or own is None or own is names or not issubclass(own, IntEnum):
        return
    what = f"{own.__name__}.{value.name}" if isinstance(value, IntEnum) else f"a {own.__name__}"
    refuse(f"{what} where a {names.__name__} is needed: valid are {', '.join(names.__members__)}")


MAY_BE_NONE = (
    "of a reference that may be none: quantify over the members and compare, as in "
    "every(implies(reference == member, ...) for member in members)"
)


class RefExpr(Expr):
    """A symbolic reference: a member of a family, or none."""

    __slots__ = ()
    _kind = Kind.REF

    def __getattr__(self, name: str) -> NoReturn:
        refuse(f"`.{name}` {MAY_BE_NONE}")

    def __setattr__(self, name: str, value: object) -> None:
        if name != "_node":
            self.__getattr__(name)
        super().__setattr__(name, value)


def node_of(value: object, like: Node | None = None) -> Node:
    """The node of a symbolic or plain value; `like` gives the sort that a plain one should have."""
    if isinstance(value, Expr):
        node = value._node
    elif isinstance(value, bool):
        node = graph.constant(value)
    elif isinstance(value, int):
        node = graph.constant(int(value))
    elif value is None and like is not None and like.sort.kind is Kind.REF:
        node = graph.constant(graph.NONE, like.sort)
    else:
        found = getattr(value, "_reference_node", None)
        if found is None:
            what, instead = _no_value(value)
            refuse(f"{what} where a boolean, a number, a member or none is needed{instead}")
        node = found()
        if node.sort is INT and (like is None or like.sort is INT):
            refuse("a row where a value is needed: write row.number, or compare it with a row")
    if like is not None and node.sort != like.sort:
        refuse(f"{_words(node.sort)} where {_words(like.sort)} is needed")
    return node


def _no_value(value: object) -> tuple[str, str]:
    """What an object is that is no value, and what to write instead."""
    if isinstance(value, Bound):
        return f"the bound {value.name}", ": write state.bound(...)"
    if isinstance(value, View):
        instead = value._instead.get("value")
        return value._words, f": write {instead}" if instead else ""
    return repr(value), ""


def _words(sort: Sort) -> str:
    """What values of a sort are, for people."""
    of = {
        Kind.BOOL: "a boolean",
        Kind.INT: "a number",
        Kind.REF: f"a member of {sort.family}",
        Kind.SET: f"a set of members of {sort.family}",
    }
    return of[sort.kind]


def wrap(node: Node) -> Expr:
    """`node` as a symbolic value of its kind (sets are wrapped by `collections`)."""
    kinds: dict[Kind, type[Expr]] = {Kind.BOOL: BoolExpr, Kind.INT: IntExpr, Kind.REF: RefExpr}
    return kinds[node.sort.kind](node)


def as_bool(node: Node) -> bool:
    """`node` for code that is written for plain booleans: types pretend, values are symbolic."""
    return cast(bool, BoolExpr(node))


def as_int(node: Node) -> int:
    """`node` for code that is written for plain numbers: types pretend, values are symbolic."""
    return cast(int, IntExpr(node))
