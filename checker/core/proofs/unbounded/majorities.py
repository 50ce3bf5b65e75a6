"""What proofs for all sizes know of majorities: axioms, since they do not count.

`is_majority(group, of)` is a predicate without a meaning of its own. Of each two uses the axioms
below are assumed, with all variables of both universal. All are true of real majorities (more than
half of the members of `of`), so what follows from them is so; they do not say all that is true.

- *Two meet*: two majorities share a member that is in the sets of which they are majorities, if
  these sets are the same or differ in one member. So a majority is never empty.
- *Larger ones*: what has all that a majority of the same set has, is a majority of it.
- *All*: the whole of a set is a majority of it, unless it is empty.

Why two of neighbours meet: let V have n members and W be V and one more. A majority of V has at
least n // 2 + 1 of V; one of W has at least (n + 1) // 2 + 1 of W, so (n + 1) // 2 of V. Together
these are n + 1 of n.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from model.language import graph
from model.language.graph import Kind, Node, Op, Sort


def general(majority: Node) -> tuple[Node, tuple[Node, ...]]:
    """The use with other names for its variables, and these: equal uses become one.

    They are in the order in which the use's own `variables` are.
    """
    group, of = (_named(part) for part in majority.args)
    own = variables(majority)
    named = tuple(
        graph.variable(f"majority%{place}", variable.sort, variable.data[1])
        for place, variable in enumerate(own)
    )
    renamed = graph.substitute(graph.majority(group, of), dict(zip(own, named, strict=True)))
    return renamed, named


def variables(majority: Node) -> tuple[Node, ...]:
    """Its free variables in the order in which they appear, whenever they were made."""
    return tuple(node for node in graph.in_order([majority]) if node in majority.free)


@dataclass(frozen=True)
class Use:
    """A general use: the sets, and the predicate that stands for it, of the same variables."""

    group: Node
    of: Node
    holds: Node

    def apart(self) -> Use:
        """The same of other variables."""
        free = self.group.free | self.of.free | self.holds.free
        others = {v: graph.variable(f"other {v.data[0]}", v.sort, v.data[1]) for v in free}
        return Use(*(graph.substitute(n, others) for n in (self.group, self.of, self.holds)))


def _named(group: Node) -> Node:
    """The set with one name for the member that its condition is about."""
    if group.op is not Op.MEMBERS_WHERE:
        return group
    member = _member(group, 3)
    return graph.members_where(member, graph.substitute(group.args[1], {group.args[0]: member}))


PREFIX = f"{Op.MAJORITY}!"
"""How the predicates are called that uses become."""


def triggers(clause: Node, defines: Iterable[str]) -> tuple[list[Node], list[Node]]:
    """Which terms together lead Z3 to instances of a clause, and which should not.

    An axiom is for the uses that it is about, if they name all its variables. A hypothesis is to be
    found by what it says of the state: a use would have to be there first.
    """
    wanted = {name for name in defines if name.startswith(PREFIX)}
    found = [
        node
        for node in sorted(graph.below(clause), key=lambda n: n.number)
        if node.op is Op.READ and node.data[0].startswith(PREFIX)
    ]
    if not wanted:
        return [], found
    own = [node for node in found if node.data[0] in wanted]
    return (own if frozenset().union(*(use.free for use in own)) >= clause.free else []), []


def alone(use: Use) -> list[Node]:
    """What is so of one use, for all values of the variables."""
    member = _member(use.of, 0)
    without = _some(member, _in(use.of, member), _out(use.group, member))
    nobody = graph.quantified(Op.FORALL, member, _out(use.of, member))
    return [graph.disjunction(use.holds, without, nobody), _meet(use, use.apart())]


def together(use: Use, other: Use) -> list[Node]:
    """What is so of two uses, for all values of the variables."""
    if use.of.sort != other.of.sort:
        return []
    other = other.apart()
    return [_meet(use, other), _larger(use, other), _larger(other, use)]


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
