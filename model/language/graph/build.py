"""The expression graph: what a captured action or property *is*, for every back end.

A node is an operator, its arguments and a sort, interned: two equal expressions are one object, so
sharing within and between actions costs nothing to find. Quantifiers, reads of indexed variables
and set operations stay whole here; `ground` expands them for back ends that want scalars. The
constructors below simplify (constants, neutral elements, equal arguments) and nothing else does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from model.language.graph.nodes import BOOL, INT, NONE, Kind, Node, Op, Sort, intern, ones


def constant(value: bool | int, sort: Sort | None = None) -> Node:
    """A boolean or a number; with `sort`, a reference given by its index (`NONE` for none)."""
    if sort is not None:
        return intern(Op.CONST, (), sort, value)
    if isinstance(value, bool):
        return intern(Op.CONST, (), BOOL, value)
    known = _NUMBERS.get(value)
    if known is None:
        known = intern(Op.CONST, (), INT, value)
        if abs(value) < _FEW:
            _NUMBERS[value] = known
    return known


_FEW = 256
_NUMBERS: dict[int, Node] = {}
"""The numbers that are asked for most, each as a node that stays."""


TRUE = constant(True)
FALSE = constant(False)


def variable(name: str, sort: Sort, over: str) -> Node:
    """A parameter or bound variable; `over` names the index set or domain that it ranges over."""
    return intern(Op.VARIABLE, (), sort, (name, over))


def bound(name: str) -> Node:
    """A bound of the protocol, a number that is fixed when a model is built."""
    return intern(Op.BOUND, (), INT, name)


def read(name: str, index: tuple[Node, ...], sort: Sort, frame: int = 0) -> Node:
    """State variable `name` at `index`; `frame` 0 is the state before a step, 1 the one after."""
    return intern(Op.READ, index, sort, (name, frame))


def cell(position: int, low: int, high: int, sort: Sort, frame: int = 0) -> Node:
    """One scalar of a ground state, whose values lie between `low` and `high` inclusive."""
    return intern(Op.CELL, (), sort, (frame, position, low, high))


def negation(a: Node) -> Node:
    """Not `a`."""
    if a.op is Op.CONST:
        return constant(not a.data)
    if a.op is Op.NOT:
        return a.args[0]
    return intern(Op.NOT, (a,), BOOL)


def _junction(op: Op, args: Iterable[Node], neutral: Node, absorbing: Node) -> Node:
    flat: dict[Node, None] = {}
    for arg in args:
        for part in arg.args if arg.op is op else (arg,):
            if part is absorbing:
                return absorbing
            if part is not neutral:
                flat[part] = None
    if not flat:
        return neutral
    if len(flat) == 1:
        return next(iter(flat))
    for part in flat:
        if part.op is Op.NOT and part.args[0] in flat:
            return absorbing
    return intern(op, tuple(flat), BOOL)


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
    return intern(Op.EQ, (a, b), BOOL)


def less(a: Node, b: Node) -> Node:
    """`a < b`."""
    if a is b:
        return FALSE
    if a.low is not None and b.low is not None and a.high is not None and b.high is not None:
        if a.high < b.low:
            return TRUE
        if a.low >= b.high:
            return FALSE
    return intern(Op.LT, (a, b), BOOL)


def at_most(a: Node, b: Node) -> Node:
    """`a <= b`."""
    if a is b:
        return TRUE
    if a.low is not None and b.low is not None and a.high is not None and b.high is not None:
        if a.high <= b.low:
            return TRUE
        if a.low > b.high:
            return FALSE
    return intern(Op.LE, (a, b), BOOL)


def add(a: Node, b: Node) -> Node:
    """`a + b`."""
    if a.op is Op.CONST and b.op is Op.CONST:
        return constant(a.data + b.data)
    for this, other in ((a, b), (b, a)):
        if this.op is Op.CONST and this.data == 0:
            return other
    return intern(Op.ADD, (a, b), INT)


def subtract(a: Node, b: Node) -> Node:
    """`a - b`."""
    if a.op is Op.CONST and b.op is Op.CONST:
        return constant(a.data - b.data)
    if b.op is Op.CONST and b.data == 0:
        return a
    if a is b:
        return constant(0)
    return intern(Op.SUB, (a, b), INT)


def _extreme(op: Op, a: Node, b: Node) -> Node:
    if a is b:
        return a
    for small, large in ((a, b), (b, a)):
        if small.high is not None and large.low is not None and small.high <= large.low:
            return small if op is Op.MIN else large
    if a.number > b.number:
        a, b = b, a
    return intern(op, (a, b), INT)


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
    return intern(Op.ITE, (condition, then, otherwise), then.sort)


def bit_and(a: Node, b: Node) -> Node:
    """The bits that both numbers have; neither is negative."""
    if a.op is Op.CONST:
        a, b = b, a
    if b.op is Op.CONST:
        if a.op is Op.CONST:
            return constant(a.data & b.data)
        if b.data == 0:
            return b
        if a.high is not None and (b.data & ones(a.high)) == ones(a.high):
            return a
    return a if a is b else intern(Op.BITAND, (a, b), INT)


def bit_or(a: Node, b: Node) -> Node:
    """The bits that either number has; neither is negative."""
    if a.op is Op.CONST:
        a, b = b, a
    if b.op is Op.CONST:
        if a.op is Op.CONST:
            return constant(a.data | b.data)
        if b.data == 0:
            return a
    return a if a is b else intern(Op.BITOR, (a, b), INT)


def quantified(op: Op, over: Node, body: Node) -> Node:
    """`op` (forall, exists, count, largest, smallest) of `body` for every value of `over`."""
    if op in (Op.FORALL, Op.EXISTS) and body.op is Op.CONST:
        return body  # index sets are never empty
    return intern(op, (over, body), BOOL if op in (Op.FORALL, Op.EXISTS) else INT)


def no_members(family: str) -> Node:
    """The empty set of members of `family`."""
    return intern(Op.EMPTY, (), Sort(Kind.SET, family))


def all_members(family: str) -> Node:
    """The set of all members of `family`."""
    return intern(Op.EVERYONE, (), Sort(Kind.SET, family))


def singleton(member: Node) -> Node:
    """The set that holds `member` alone; empty if it is none."""
    return intern(Op.SINGLETON, (member,), Sort(Kind.SET, member.sort.family))


def set_operation(op: Op, a: Node, b: Node) -> Node:
    """Union, intersection or difference of two sets of members of one family."""
    if Op.EMPTY in (a.op, b.op):
        if op is Op.UNION:
            return b if a.op is Op.EMPTY else a
        return b if op is Op.INTERSECTION and b.op is Op.EMPTY else a
    return intern(op, (a, b), a.sort)


def contains(group: Node, member: Node) -> Node:
    """`member` is in the set `group`; false for none."""
    return intern(Op.CONTAINS, (group, member), BOOL)


def size(group: Node) -> Node:
    """How many members the set `group` has."""
    return intern(Op.SIZE, (group,), INT)


def majority(group: Node, of: Node) -> Node:
    """Of the members of the set `of`, more are in the set `group` than are not."""
    return intern(Op.MAJORITY, (group, of), BOOL)


def members_where(member: Node, condition: Node) -> Node:
    """The set of those values of the variable `member` for which `condition` holds."""
    return intern(Op.MEMBERS_WHERE, (member, condition), Sort(Kind.SET, member.sort.family))


def rebuild(node: Node, args: tuple[Node, ...]) -> Node:
    """`node` with other arguments, simplified anew."""
    if args == node.args:
        return node
    constructor = _CONSTRUCTORS.get(node.op)
    return constructor(*args) if constructor else intern(node.op, args, node.sort, node.data)


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
    Op.UNION: partial(set_operation, Op.UNION),
    Op.INTERSECTION: partial(set_operation, Op.INTERSECTION),
    Op.DIFFERENCE: partial(set_operation, Op.DIFFERENCE),
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


def names_a_member(node: Node) -> bool:
    """The expression is the name of one member, which tells it from the others."""
    return node.op is Op.CONST and node.sort.kind is Kind.REF and node.data != NONE


def below(*roots: Node) -> set[Node]:
    """All nodes that the roots consist of, themselves included."""
    seen: set[Node] = set()
    stack = list(roots)
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            stack.extend(node.args)
    return seen


def in_order(roots: Iterable[Node]) -> list[Node]:
    """The nodes below `roots` that are no constants, arguments first, each once."""
    seen: dict[Node, None] = {}
    stack = [(root, False) for root in reversed(list(roots))]
    while stack:
        node, ready = stack.pop()
        if ready:
            seen[node] = None
        elif node not in seen and node.op is not Op.CONST:
            stack.append((node, True))
            stack.extend((arg, False) for arg in reversed(node.args) if arg not in seen)
    return list(seen)
