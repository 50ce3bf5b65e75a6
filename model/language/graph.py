"""The expression graph: what a captured action or property *is*, for every back end.

A node is an operator, its arguments and a sort, interned: two equal expressions are one object, so
sharing within and between actions costs nothing to find. Quantifiers, reads of indexed variables
and set operations stay whole here; `ground` expands them for back ends that want scalars. The
constructors simplify (constants, neutral elements, equal arguments) and nothing else does.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from weakref import WeakValueDictionary


class Kind(StrEnum):
    """What sort of value an expression has."""

    BOOL = "bool"
    INT = "int"
    REF = "ref"  # a member of a family, or none
    SET = "set"  # a set of members of a family


@dataclass(frozen=True, slots=True)
class Sort:
    """A kind, and for references and sets the name of the family that they are of."""

    kind: Kind
    family: str = ""


BOOL = Sort(Kind.BOOL)
INT = Sort(Kind.INT)
NONE = -1  # the index that stands for "no member" wherever a reference is a number


class Op(StrEnum):
    """Every operator. The second group exists only before grounding, `CELL` only after."""

    CONST = "const"
    NOT = "not"
    AND = "and"
    OR = "or"
    EQ = "eq"
    LT = "lt"
    LE = "le"
    ADD = "add"
    SUB = "sub"
    MIN = "min"
    MAX = "max"
    ITE = "ite"
    BITAND = "bitand"
    BITOR = "bitor"
    CELL = "cell"

    VARIABLE = "variable"  # a parameter of an action, or a quantifier's bound variable
    BOUND = "bound"  # a bound of the protocol, such as the log size
    READ = "read"  # a state variable at an index
    FORALL = "forall"
    EXISTS = "exists"
    COUNT = "count"
    LARGEST = "largest"
    SMALLEST = "smallest"
    EMPTY = "empty"
    EVERYONE = "everyone"
    SINGLETON = "singleton"
    UNION = "union"
    INTERSECTION = "intersection"
    DIFFERENCE = "difference"
    CONTAINS = "contains"
    SIZE = "size"
    MEMBERS_WHERE = "members_where"


BINDERS = frozenset({Op.FORALL, Op.EXISTS, Op.COUNT, Op.LARGEST, Op.SMALLEST, Op.MEMBERS_WHERE})


class Node:
    """One interned expression.

    `data` holds what is not an argument: a constant's value, a variable's name, the state variable
    that is read and the frame that it is read in. `free` is the set of variables that occur free.
    `low` and `high` bound the values of a ground number, inclusive; they are `None` before.
    """

    __slots__ = ("__weakref__", "args", "data", "free", "high", "low", "number", "op", "sort")

    def __init__(self, op: Op, args: tuple[Node, ...], sort: Sort, data: Any, number: int) -> None:
        self.op = op
        self.args = args
        self.sort = sort
        self.data = data
        self.number = number
        self.free: frozenset[Node] = _free_variables(self)
        self.low, self.high = _range(self)

    def __repr__(self) -> str:
        return show(self)


_interned: WeakValueDictionary[tuple[Op, tuple[int, ...], Sort, Any], Node] = WeakValueDictionary()
_numbers = itertools.count()


def _node(op: Op, args: tuple[Node, ...], sort: Sort, data: Any = None) -> Node:
    key = (op, tuple(arg.number for arg in args), sort, data)
    found = _interned.get(key)
    if found is None:
        found = _interned[key] = Node(op, args, sort, data, next(_numbers))
    return found


def _free_variables(node: Node) -> frozenset[Node]:
    if node.op is Op.VARIABLE:
        return frozenset((node,))
    free = frozenset().union(*(arg.free for arg in node.args))
    return free - {node.args[0]} if node.op in BINDERS else free


def _range(node: Node) -> tuple[int | None, int | None]:
    if node.sort is BOOL:
        return (int(node.data), int(node.data)) if node.op is Op.CONST else (0, 1)
    if node.op is Op.CONST:
        return node.data, node.data
    if node.op is Op.CELL:
        return node.data[2], node.data[3]
    rule = _RANGES.get(node.op)
    if rule is None:
        return None, None
    numbers = node.args[1:] if node.op is Op.ITE else node.args
    known = [(a.low, a.high) for a in numbers if a.low is not None and a.high is not None]
    return rule(known) if len(known) == len(numbers) else (None, None)


def _ones(high: int) -> int:
    return (1 << high.bit_length()) - 1


_RANGES: dict[Op, Callable[[list[tuple[int, int]]], tuple[int, int]]] = {
    Op.ADD: lambda r: (r[0][0] + r[1][0], r[0][1] + r[1][1]),
    Op.SUB: lambda r: (r[0][0] - r[1][1], r[0][1] - r[1][0]),
    Op.MIN: lambda r: (min(a for a, _ in r), min(b for _, b in r)),
    Op.MAX: lambda r: (max(a for a, _ in r), max(b for _, b in r)),
    Op.ITE: lambda r: (min(a for a, _ in r), max(b for _, b in r)),
    Op.BITAND: lambda r: (0, min(b for _, b in r)),
    Op.BITOR: lambda r: (0, _ones(max(b for _, b in r))),
}


# --- constructors -------------------------------------------------------------------------------


def constant(value: bool | int, sort: Sort | None = None) -> Node:
    """A boolean or a number; with `sort`, a reference given by its index (`NONE` for none)."""
    if sort is None:
        sort = BOOL if isinstance(value, bool) else INT
    return _node(Op.CONST, (), sort, value)


TRUE = constant(True)
FALSE = constant(False)


def variable(name: str, sort: Sort, over: str) -> Node:
    """A parameter or bound variable; `over` names the index set or domain that it ranges over."""
    return _node(Op.VARIABLE, (), sort, (name, over))


def bound(name: str) -> Node:
    """A bound of the protocol, a number that is fixed when a model is built."""
    return _node(Op.BOUND, (), INT, name)


def read(name: str, index: tuple[Node, ...], sort: Sort, frame: int = 0) -> Node:
    """State variable `name` at `index`; `frame` 0 is the state before a step, 1 the one after."""
    return _node(Op.READ, index, sort, (name, frame))


def cell(position: int, low: int, high: int, sort: Sort, frame: int = 0) -> Node:
    """One scalar of a ground state, whose values lie between `low` and `high` inclusive."""
    return _node(Op.CELL, (), sort, (frame, position, low, high))


def negation(a: Node) -> Node:
    """Not `a`."""
    if a.op is Op.CONST:
        return constant(not a.data)
    if a.op is Op.NOT:
        return a.args[0]
    return _node(Op.NOT, (a,), BOOL)


def _junction(op: Op, args: Iterable[Node], neutral: Node, absorbing: Node) -> Node:
    flat: dict[Node, None] = {}
    for arg in args:
        for part in arg.args if arg.op is op else (arg,):
            if part is absorbing:
                return absorbing
            if part is not neutral:
                flat[part] = None
    if any(part.op is Op.NOT and part.args[0] in flat for part in flat):
        return absorbing
    if not flat:
        return neutral
    if len(flat) == 1:
        return next(iter(flat))
    return _node(op, tuple(flat), BOOL)


def conjunction(*args: Node) -> Node:
    """All of `args`; true if there are none."""
    return _junction(Op.AND, args, TRUE, FALSE)


def disjunction(*args: Node) -> Node:
    """Any of `args`; false if there are none."""
    return _junction(Op.OR, args, FALSE, TRUE)


def _disjoint(a: Node, b: Node) -> bool:
    return (
        a.low is not None
        and b.low is not None
        and a.high is not None
        and b.high is not None
        and (a.high < b.low or b.high < a.low)
    )


def equal(a: Node, b: Node) -> Node:
    """`a` and `b` have the same value; they are of the same kind."""
    if a is b:
        return TRUE
    if a.op is Op.CONST and b.op is Op.CONST:
        return constant(a.data == b.data)
    if a.sort is BOOL:
        for this, other in ((a, b), (b, a)):
            if this.op is Op.CONST:
                return other if this.data else negation(other)
    if _disjoint(a, b):
        return FALSE
    if a.number > b.number:
        a, b = b, a
    return _node(Op.EQ, (a, b), BOOL)


def less(a: Node, b: Node) -> Node:
    """`a < b`."""
    if a is b:
        return FALSE
    if a.low is not None and b.low is not None and a.high is not None and b.high is not None:
        if a.high < b.low:
            return TRUE
        if a.low >= b.high:
            return FALSE
    return _node(Op.LT, (a, b), BOOL)


def at_most(a: Node, b: Node) -> Node:
    """`a <= b`."""
    if a is b:
        return TRUE
    if a.low is not None and b.low is not None and a.high is not None and b.high is not None:
        if a.high <= b.low:
            return TRUE
        if a.low > b.high:
            return FALSE
    return _node(Op.LE, (a, b), BOOL)


def add(a: Node, b: Node) -> Node:
    """`a + b`."""
    if a.op is Op.CONST and b.op is Op.CONST:
        return constant(a.data + b.data)
    for this, other in ((a, b), (b, a)):
        if this.op is Op.CONST and this.data == 0:
            return other
    return _node(Op.ADD, (a, b), INT)


def subtract(a: Node, b: Node) -> Node:
    """`a - b`."""
    if a.op is Op.CONST and b.op is Op.CONST:
        return constant(a.data - b.data)
    if b.op is Op.CONST and b.data == 0:
        return a
    if a is b:
        return constant(0)
    return _node(Op.SUB, (a, b), INT)


def _extreme(op: Op, a: Node, b: Node) -> Node:
    if a is b:
        return a
    for small, large in ((a, b), (b, a)):
        if small.high is not None and large.low is not None and small.high <= large.low:
            return small if op is Op.MIN else large
    if a.number > b.number:
        a, b = b, a
    return _node(op, (a, b), INT)


def minimum(a: Node, b: Node) -> Node:
    """The smaller of `a` and `b`."""
    return _extreme(Op.MIN, a, b)


def maximum(a: Node, b: Node) -> Node:
    """The larger of `a` and `b`."""
    return _extreme(Op.MAX, a, b)


def choose(condition: Node, then: Node, otherwise: Node) -> Node:
    """`then` where `condition` holds, else `otherwise`."""
    if then is otherwise or condition is TRUE:
        return then
    if condition is FALSE:
        return otherwise
    if condition.op is Op.NOT:
        return choose(condition.args[0], otherwise, then)
    if then.sort is BOOL:
        if then.op is Op.CONST:
            return (
                disjunction(condition, otherwise)
                if then.data
                else conjunction(negation(condition), otherwise)
            )
        if otherwise.op is Op.CONST:
            return (
                disjunction(negation(condition), then)
                if otherwise.data
                else conjunction(condition, then)
            )
    return _node(Op.ITE, (condition, then, otherwise), then.sort)


def bit_and(a: Node, b: Node) -> Node:
    """The bits that both numbers have; neither is negative."""
    if a.op is Op.CONST:
        a, b = b, a
    if b.op is Op.CONST:
        if a.op is Op.CONST:
            return constant(a.data & b.data)
        if b.data == 0:
            return b
        if a.high is not None and (b.data & _ones(a.high)) == _ones(a.high):
            return a
    return a if a is b else _node(Op.BITAND, (a, b), INT)


def bit_or(a: Node, b: Node) -> Node:
    """The bits that either number has; neither is negative."""
    if a.op is Op.CONST:
        a, b = b, a
    if b.op is Op.CONST:
        if a.op is Op.CONST:
            return constant(a.data | b.data)
        if b.data == 0:
            return a
    return a if a is b else _node(Op.BITOR, (a, b), INT)


def quantified(op: Op, over: Node, body: Node) -> Node:
    """`op` (forall, exists, count, largest, smallest) of `body` for every value of `over`."""
    if op in (Op.FORALL, Op.EXISTS) and body.op is Op.CONST:
        return body  # index sets are never empty
    return _node(op, (over, body), BOOL if op in (Op.FORALL, Op.EXISTS) else INT)


def no_members(family: str) -> Node:
    """The empty set of members of `family`."""
    return _node(Op.EMPTY, (), Sort(Kind.SET, family))


def all_members(family: str) -> Node:
    """The set of all members of `family`."""
    return _node(Op.EVERYONE, (), Sort(Kind.SET, family))


def singleton(member: Node) -> Node:
    """The set that holds `member` alone; empty if it is none."""
    return _node(Op.SINGLETON, (member,), Sort(Kind.SET, member.sort.family))


def set_operation(op: Op, a: Node, b: Node) -> Node:
    """Union, intersection or difference of two sets of members of one family."""
    return _node(op, (a, b), a.sort)


def contains(group: Node, member: Node) -> Node:
    """`member` is in the set `group`; false for none."""
    return _node(Op.CONTAINS, (group, member), BOOL)


def size(group: Node) -> Node:
    """How many members the set `group` has."""
    return _node(Op.SIZE, (group,), INT)


def members_where(member: Node, condition: Node) -> Node:
    """The set of those values of the variable `member` for which `condition` holds."""
    return _node(Op.MEMBERS_WHERE, (member, condition), Sort(Kind.SET, member.sort.family))


def rebuild(node: Node, args: tuple[Node, ...]) -> Node:
    """`node` with other arguments, simplified anew."""
    if args == node.args:
        return node
    constructor = _CONSTRUCTORS.get(node.op)
    return constructor(*args) if constructor else _node(node.op, args, node.sort, node.data)


_CONSTRUCTORS: dict[Op, Callable[..., Node]] = {
    Op.NOT: negation,
    Op.AND: conjunction,
    Op.OR: disjunction,
    Op.EQ: equal,
    Op.LT: less,
    Op.LE: at_most,
    Op.ADD: add,
    Op.SUB: subtract,
    Op.MIN: minimum,
    Op.MAX: maximum,
    Op.ITE: choose,
    Op.BITAND: bit_and,
    Op.BITOR: bit_or,
}


def substitute(node: Node, replacement: dict[Node, Node]) -> Node:
    """`node` with free variables replaced. The replacements' variables must not be captured."""
    done: dict[Node, Node] = {}

    def visit(this: Node) -> Node:
        if this in replacement:
            return replacement[this]
        if not (this.free & replacement.keys()):
            return this
        found = done.get(this)
        if found is None:
            found = done[this] = rebuild(this, tuple(visit(arg) for arg in this.args))
        return found

    return visit(node)


def show(node: Node) -> str:
    """The expression as one line of text, for error messages and tests."""
    if node.op is Op.CONST:
        return str(node.data)
    if node.op is Op.VARIABLE:
        return str(node.data[0])
    inner = ", ".join(show(arg) for arg in node.args)
    name = node.data[0] if node.op is Op.READ else node.op
    if node.op is Op.READ:
        return f"{name}[{inner}]" if inner else str(name)
    return f"{name}({inner})" if node.data is None else f"{name}[{node.data}]({inner})"
