"""What proofs for all sizes know of majorities: axioms, since they do not count.

`is_majority(group, of)` is a predicate without a meaning of its own: one for each *shape* of the
two sets, of the terms that are put into it. So `fetched[e][v] > o` is one predicate of `e` and `o`,
whatever these are, and what is known for all is known of each. Of the predicates the axioms below
are assumed, with all variables universal. All are true of real majorities (more than half of the
members of `of`), so what follows from them is so; they do not say all that is true.

- *Two meet*: two majorities share a member that is in the sets of which they are majorities, if
  these sets are the same or differ in one member. So a majority is never empty.
- *Larger ones*: what has all that a majority of the same set has, is a majority of it.
- *All*: the whole of a set is a majority of it, unless it is empty.

Most steps need no more than the second, of a set before and after the step; then come the first and
third, of sets before the step; at last all three, of any two sets. `Rank` says which is which.

Why two of neighbours meet: let V have n members and W be V and one more. A majority of V has at
least n // 2 + 1 of V; one of W has at least (n + 1) // 2 + 1 of W, so (n + 1) // 2 of V. Together
these are n + 1 of n.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum

from model.language import graph
from model.language.graph import BINDERS, BOOL, COMMUTATIVE, INT, Kind, Node, Op, Sort
from model.language.lifted import Lifted


class Rank(IntEnum):
    """How soon an axiom is tried."""

    BEFORE_AND_AFTER = 0
    MEETING = 1
    ANY = 2


@dataclass(frozen=True)
class Use:
    """A shape of two sets, and the predicate that stands for it, of the same parameters."""

    group: Node
    of: Node
    holds: Node
    parameters: tuple[Node, ...] = ()

    def apart(self) -> Use:
        """The same of other parameters."""
        return self.at(
            [graph.variable(f"other {v.data[0]}", v.sort, v.data[1]) for v in self.parameters]
        )

    def at(self, terms: Iterable[Node]) -> Use:
        """The same of the terms, in place of the parameters."""
        put = dict(zip(self.parameters, terms, strict=True))
        group, of, holds = (
            graph.substitute(part, put) for part in (self.group, self.of, self.holds)
        )
        return Use(group, of, holds, tuple(put.values()))


@dataclass(frozen=True)
class Shape:
    """Two sets with a parameter for each of `terms`.

    The sets are as they are where `inside` holds: each term that is an index is in its range.
    """

    majority: Node
    parameters: tuple[Node, ...]
    terms: tuple[Node, ...]
    inside: Node


def shape(majority: Node, lifted: Lifted, inline: frozenset[Node] | None = None) -> Shape:
    """The shape of a use. With `inline`, what only these variables are in is no parameter."""
    sets = [_named(part) for part in majority.args]
    terms = tuple(dict.fromkeys(t for part in sets for t in _terms(part, frozenset(), inline)))
    indices = [
        over.admits(index)
        for node in graph.in_order(sets)
        if node.op is Op.READ and node.data[0] in lifted.schema.variables
        for index, over in zip(node.args, lifted.schema.variables[node.data[0]].index, strict=False)
        if index in terms
    ]
    inside = graph.conjunction(*indices)
    parameters = tuple(
        graph.variable(f"majority%{place}", term.sort, "") for place, term in enumerate(terms)
    )
    put = dict.fromkeys(inside.args if inside.op is Op.AND else (inside,), graph.TRUE)
    put |= dict(zip(terms, parameters, strict=True))
    return Shape(graph.majority(*(_put(part, put) for part in sets)), parameters, terms, inside)


def cases(majority: Node) -> tuple[Node, Node, Node] | None:
    """The condition on which it is of one set or of another, and what it is then; if there is one.

    After a step that assigns a set, this is where it is assigned: so each case has the shape that
    it has elsewhere.
    """
    group, of = majority.args
    choice = _choice(of)
    if choice is None:
        return None
    then, otherwise = (graph.majority(group, _put(of, {choice: arg}))
                       for arg in choice.args[1:])  # fmt: skip
    return choice.args[0], then, otherwise


def _choice(group: Node) -> Node | None:
    """A set that depends on a condition, in a set that is made of others."""
    if group.op is Op.ITE:
        return group
    if group.op in (Op.UNION, Op.INTERSECTION, Op.DIFFERENCE):
        return next(filter(None, map(_choice, group.args)), None)
    return None


def parts(use: Use, lifted: Lifted) -> Iterator[Shape]:
    """If the group are those who satisfy an "or": those who satisfy a part, in the same set."""
    condition = use.group.args[-1] if use.group.op is Op.MEMBERS_WHERE else use.group
    for part in condition.args if condition.op is Op.OR else ():
        yield shape(graph.majority(graph.members_where(use.group.args[0], part), use.of), lifted)


def _put(node: Node, put: dict[Node, Node]) -> Node:
    if node in put or not node.args:
        return put.get(node, node)
    return graph.rebuild(node, tuple(_put(arg, put) for arg in node.args))


def _terms(node: Node, bound: frozenset[Node], inline: frozenset[Node] | None) -> Iterator[Node]:
    """The largest parts that are numbers or members and do not depend on a variable in `bound`.

    Their order is that of what is around them, whatever the terms are.
    """
    if node.op in (Op.CONST, Op.BOUND) or node in bound:
        return
    if (node.sort is INT or node.sort.kind is Kind.REF) and not node.free & bound:
        varies = node.free if inline is None else node.free - inline
        if varies or (inline is None and any(n.op is Op.READ for n in graph.below(node))):
            yield node
        return
    args = node.args
    if node.op in BINDERS:
        bound, args = bound | {args[0]}, args[1:]
    if node.op in COMMUTATIVE:
        args = tuple(sorted(args, key=lambda arg: _sketch(arg, bound)))
    for arg in args:
        yield from _terms(arg, bound, inline)


def _sketch(node: Node, bound: frozenset[Node]) -> str:
    """The expression as text that does not tell one term from another, nor the order of sums."""
    if node.op in (Op.CONST, Op.BOUND):
        return str(node.data)
    if node.sort is not BOOL and node.sort.kind is not Kind.SET and not node.free & bound:
        return "?"
    parts = [_sketch(arg, bound) for arg in node.args]
    name = node.data[0] if node.op in (Op.READ, Op.VARIABLE) else node.op
    return f"{name}({', '.join(sorted(parts) if node.op in COMMUTATIVE else parts)})"


def _named(group: Node) -> Node:
    """The set with one name for the member that its condition is about."""
    if group.op is not Op.MEMBERS_WHERE:
        return group
    member = _member(group, 3)
    return graph.members_where(member, graph.substitute(group.args[1], {group.args[0]: member}))


PREFIX = f"{Op.MAJORITY}!"
"""How the predicates are called that uses become."""


def triggers(clause: Node, defines: Iterable[str]) -> tuple[list[list[Node]], list[Node]]:
    """Which terms together lead Z3 to instances of a clause, in one way or another; which never.

    An axiom is for the uses that it is about, if they name all its variables. A hypothesis about a
    use of any terms is for such uses, and what it says of the state; another one only for that.
    """
    reads = sorted(
        (node for node in graph.below(clause) if node.op is Op.READ), key=lambda n: n.number
    )
    uses = [node for node in reads if node.data[0].startswith(PREFIX)]
    wanted = {name for name in defines if name.startswith(PREFIX)}
    if wanted:
        own = [node for node in uses if node.data[0] in wanted]
        return [own] if frozenset().union(*(use.free for use in own)) >= clause.free else [], []
    return [
        [use, node]
        for use in uses
        if all(arg.op is Op.VARIABLE for arg in use.args)
        for node in reads
        if node not in uses and node.free | use.free >= clause.free
    ], uses


def alone(use: Use) -> Iterator[tuple[Rank, Node]]:
    """What is so of one use, for all values of the parameters."""
    member = _member(use.of, 0)
    without = _some(member, _in(use.of, member), _out(use.group, member))
    nobody = graph.quantified(Op.FORALL, member, _out(use.of, member))
    yield Rank.MEETING, graph.disjunction(use.holds, without, nobody)
    yield Rank.MEETING, _meet(use, use.apart())


def together(use: Use, other: Use) -> Iterator[tuple[Rank, Node]]:
    """What is so of two uses, for all values of the parameters of both."""
    if use.of.sort == other.of.sort:
        other = other.apart()
        yield Rank.MEETING, _meet(use, other)
        yield Rank.ANY, _larger(use, other)
        yield Rank.ANY, _larger(other, use)


def before_and_after(before: Use, after: Use) -> list[Node]:
    """What is so of the same sets before and after a step, for the same values of parameters."""
    return [_larger(before, after), _larger(after, before)]


def _meet(a: Use, b: Use) -> Node:
    """Two majorities share a member, or what they are majorities of is not next to each other."""
    member, first, second = (_member(a.of, place) for place in range(3))
    shared = _some(member, *(_in(group, member) for group in (a.group, a.of, b.group, b.of)))
    apart = _some(
        first,
        _some(
            second,
            graph.negation(graph.equal(first, second)),
            _differ(a.of, b.of, first),
            _differ(a.of, b.of, second),
        ),
    )
    return graph.disjunction(graph.negation(a.holds), graph.negation(b.holds), shared, apart)


def _larger(a: Use, b: Use) -> Node:
    """If `a` is one, so is `b`: or it lacks a member of `a`, or the sets are not the same."""
    member = _member(a.of, 0)
    lacks = _some(member, _in(a.of, member), _in(a.group, member), _out(b.group, member))
    others = _some(member, _differ(a.of, b.of, member))
    return graph.disjunction(graph.negation(a.holds), b.holds, lacks, others)


def _member(of: Node, place: int) -> Node:
    family = of.sort.family
    return graph.variable(f"of {family}%{place}", Sort(Kind.REF, family), family)


def _in(group: Node, member: Node) -> Node:
    return graph.contains(group, member)


def _out(group: Node, member: Node) -> Node:
    return graph.negation(graph.contains(group, member))


def _differ(a: Node, b: Node, member: Node) -> Node:
    """One of the sets has the member and the other has not."""
    return graph.negation(graph.equal(_in(a, member), _in(b, member)))


def _some(member: Node, *conditions: Node) -> Node:
    return graph.quantified(Op.EXISTS, member, graph.conjunction(*conditions))
