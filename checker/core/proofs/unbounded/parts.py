"""Parts of formulas, each proved or used by itself: Z3 fares better with several small ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from model.language import graph
from model.language.graph import BOOL, Node, Op


def conjuncts(node: Node, *, named: bool = True) -> Iterator[Node]:
    """Formulas that say `node` together, each by itself easier to prove.

    If `named`, what is left out of one is still named in it: what is known of a place is found by
    its name.
    """
    if node.op is Op.AND:
        for arg in node.args:
            yield from conjuncts(arg, named=named)
    elif node.op is Op.FORALL:
        for part in conjuncts(node.args[1], named=named):
            yield graph.quantified(Op.FORALL, node.args[0], part)
    elif node.op is Op.NOT and node.args[0].op is Op.OR:
        for arg in node.args[0].args:
            yield from conjuncts(graph.negation(arg), named=named)
    elif node.op is Op.OR and (several := [arg for arg in node.args if arg.op is Op.AND]):
        others = [arg for arg in node.args if arg is not several[0]]
        for part in several[0].args:
            names = _left_out(node, several, (*others, part)) if named else ()
            yield from conjuncts(graph.disjunction(*others, part, *names), named=named)
    else:
        yield node


def _left_out(node: Node, parts: list[Node], kept: Iterable[Node]) -> Iterator[Node]:
    """The places in the parts that are in nothing that is kept, as names."""
    known = graph.below(*kept)
    for place in graph.in_order(parts):
        is_place = place.op is Op.READ and place.sort is not BOOL and place.free <= node.free
        if is_place and place not in known:
            yield _unnamed(place)


def _unnamed(place: Node) -> Node:
    """It is not so that the place is named; nothing else is known of this predicate."""
    return graph.negation(graph.read(f"named!{place.sort.family}", (place,), BOOL))
