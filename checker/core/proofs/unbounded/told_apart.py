"""How many members there are at least: a bound is open, and so is who is there, but they agree."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from model.language import graph
from model.language.capture import CapturedAction
from model.language.graph import Node, Op
from model.language.lifted import Lifted


def told_apart(lifted: Lifted, formulas: Iterable[Node]) -> Iterator[Node]:
    """There are as many members as are told apart, as far as formulas ask for the less of a few
    and of how many there are.
    """
    found = graph.below(*formulas)
    for name, index_set in lifted.schema.index_sets.items():
        extent = lifted.extent(name)
        few = [
            arg.data
            for node in found
            if index_set.symmetric and node.op is Op.MIN and extent in node.args
            for arg in node.args
            if arg.op is Op.CONST
        ]
        for count in range(2, max(few, default=0) + 1):
            members = [index_set.variable(f"counted{place}") for place in range(count)]
            same = [graph.equal(*pair) for pair in itertools.combinations(members, 2)]
            said = graph.disjunction(graph.at_most(graph.constant(count), extent), *same)
            for member in members:
                said = graph.quantified(Op.FORALL, member, said)
            yield said


def written(actions: Iterable[CapturedAction]) -> Iterator[Node]:
    """The guards of actions, and what they assign."""
    for action in actions:
        yield from action.guards
        yield from (write.value for write in action.writes)
