"""The nodes of the expression graph: operators, sorts, interned expressions and their ranges.

`graph` makes them; nothing else should.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from enum import StrEnum
from typing import Any, NamedTuple
from weakref import WeakValueDictionary


class Kind(StrEnum):
    """What sort of value an expression has."""

    BOOL = "bool"
    INT = "int"
    REF = "ref"  # a member of a family, or none
    SET = "set"  # a set of members of a family


class Sort(NamedTuple):
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
    MAJORITY = "majority"  # one set is a majority of another
    MEMBERS_WHERE = "members_where"


BINDERS = frozenset({Op.FORALL, Op.EXISTS, Op.COUNT, Op.LARGEST, Op.SMALLEST, Op.MEMBERS_WHERE})
COMMUTATIVE = frozenset({
    Op.AND, Op.OR, Op.EQ, Op.ADD, Op.MIN, Op.MAX, Op.BITAND, Op.BITOR, Op.UNION, Op.INTERSECTION,
})  # fmt: skip


class Node:
    """One interned expression.

    `data` holds what is not an argument: a constant's value, a variable's name, the state variable
    that is read and the frame that it is read in. `free` is the set of variables that occur free,
    `parameters` the same in the order in which they were made.
    `low` and `high` bound the values of a ground number, inclusive; they are `None` before.
    """

    __slots__ = (
        "__weakref__", "args", "data", "free", "high", "low", "number", "op", "parameters", "sort",
    )  # fmt: skip

    def __init__(self, op: Op, args: tuple[Node, ...], sort: Sort, data: Any, number: int) -> None:
        self.op = op
        self.args = args
        self.sort = sort
        self.data = data
        self.number = number
        self.free: frozenset[Node] = _free_variables(self)
        self.parameters = tuple(sorted(self.free, key=_number)) if self.free else ()
        self.low, self.high = _range(self)

    def __repr__(self) -> str:
        return show(self)


_interned: WeakValueDictionary[tuple[Op, tuple[Node, ...], Sort, Any], Node] = WeakValueDictionary()
_numbers = itertools.count()


def intern(op: Op, args: tuple[Node, ...], sort: Sort, data: Any = None) -> Node:
    key = (op, args, sort, data)
    found = _interned.get(key)
    if found is None:
        found = _interned[key] = Node(op, args, sort, data, next(_numbers))
    return found


def _number(node: Node) -> int:
    return node.number


def _free_variables(node: Node) -> frozenset[Node]:
    if node.op is Op.VARIABLE:
        return frozenset((node,))
    found = [arg.free for arg in node.args if arg.free]
    if not found:
        return frozenset()
    free = frozenset().union(*found)
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


def ones(high: int) -> int:
    return (1 << high.bit_length()) - 1


_RANGES: dict[Op, Callable[[list[tuple[int, int]]], tuple[int, int]]] = {
    Op.ADD: lambda r: (r[0][0] + r[1][0], r[0][1] + r[1][1]),
    Op.SUB: lambda r: (r[0][0] - r[1][1], r[0][1] - r[1][0]),
    Op.MIN: lambda r: (min(a for a, _ in r), min(b for _, b in r)),
    Op.MAX: lambda r: (max(a for a, _ in r), max(b for _, b in r)),
    Op.ITE: lambda r: (min(a for a, _ in r), max(b for _, b in r)),
    Op.BITAND: lambda r: (0, min(b for _, b in r)),
    Op.BITOR: lambda r: (0, ones(max(b for _, b in r))),
}


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
