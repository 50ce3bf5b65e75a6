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

from model.language import graph
from model.language.graph import Kind, Node, Op, Sort


def general(majority: Node, mark: str) -> Node:
    """The use with other names for its variables: equal uses in different formulas become one."""
    return graph.substitute(
        majority,
        {
            variable: graph.variable(f"{mark}%{place}", variable.sort, variable.data[1])
            for place, variable in enumerate(majority.parameters)
        },
    )


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


def alone(new: Node) -> list[Node]:
    """What is so of one use, for all values of the variables."""
    group, of = new.args
    member = _member(of, 0)
    whole = graph.disjunction(new, _some(member, _in(of, member), _out(group, member)), _nobody(of))
    return [whole, _meet(new, general(new, "other"))]


def together(new: Node, other: Node) -> list[Node]:
    """What is so of two uses that are general, for all values of the variables."""
    if new.args[1].sort != other.args[1].sort:
        return []
    other = general(other, "other")
    return [_meet(new, other), _larger(new, other), _larger(other, new)]


def _meet(a: Node, b: Node) -> Node:
    """Two majorities share a member, or what they are majorities of is not next to each other."""
    member, first, second = (_member(a.args[1], place) for place in range(3))
    shared = _some(member, *(_in(group, member) for group in (*a.args, *b.args)))
    apart = _some(
        first,
        _some(
            second,
            graph.negation(graph.equal(first, second)),
            _differ(a.args[1], b.args[1], first),
            _differ(a.args[1], b.args[1], second),
        ),
    )
    return graph.disjunction(graph.negation(a), graph.negation(b), shared, apart)


def _larger(a: Node, b: Node) -> Node:
    """If `a` is one, so is `b`: or it lacks a member of `a`, or the sets are not the same."""
    (group, of), member = a.args, _member(a.args[1], 0)
    lacks = _some(member, _in(of, member), _in(group, member), _out(b.args[0], member))
    others = _some(member, _differ(of, b.args[1], member))
    return graph.disjunction(graph.negation(a), b, lacks, others)


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


def _nobody(of: Node) -> Node:
    member = _member(of, 0)
    return graph.quantified(Op.FORALL, member, _out(of, member))
