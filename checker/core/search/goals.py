"""Goals: what would settle each property, as one condition of a state that a search looks for.

A claim is settled where it is false, a witness and a premise where they are true. What is said of
steps becomes a condition of the state before: some step that is enabled there settles it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from model.language import graph
from model.language.graph import BOOL, Node, Op
from model.language.ground import cell_node
from model.language.protocol import Model
from properties import Property, Sense


class Goal(NamedTuple):
    """A condition in the form of `as_parts`; `by_step`: a step from where it holds settles it."""

    condition: Node
    by_step: bool


def goals_of(model: Model, properties: Iterable[Property]) -> tuple[Goal, ...]:
    """What would settle the properties, and make their premises true; not what never can."""
    parts, found = Parts(), []
    for prop in properties:
        claim = model.ground_claim(prop.claim, prop.frames)
        wanted = claim if prop.sense is Sense.SOMETIMES else graph.negation(claim)
        if prop.of_steps:
            wanted = graph.disjunction(
                *(graph.conjunction(a.guard, After(model, a.assignments)(wanted))
                  for a in model.ground_actions)
            )  # fmt: skip
        found.append(Goal(parts(wanted), prop.of_steps))
        if prop.premise is not None:
            found.append(Goal(parts(model.ground_claim(prop.premise)), False))
    return tuple(goal for goal in found if goal.condition is not graph.FALSE)


class After:
    """Expressions as they will be after assignments, over the state before them.

    In what is said of a step, frame 0 stays; in what is said of a state, frame 0 is the one after.
    """

    def __init__(self, model: Model, assignments: Mapping[int, Node]) -> None:
        self._cells = model.cells
        self._assignments = assignments
        self._done: dict[tuple[Node, bool], Node] = {}

    def __call__(self, node: Node, of_state: bool = False) -> Node:
        """The expression over frame 0."""
        key = (node, of_state)
        if key not in self._done:
            self._done[key] = self._cell(node, of_state) if node.op is Op.CELL else graph.rebuild(
                node, tuple(self(arg, of_state) for arg in node.args)
            )  # fmt: skip
        return self._done[key]

    def _cell(self, node: Node, of_state: bool) -> Node:
        frame, position = node.data[:2]
        if frame == 0 and not of_state:
            return node
        return self._assignments.get(position, cell_node(0, self._cells[position]))


class Parts:
    """Conditions as conjunctions and disjunctions of parts: negations and choices moved inwards."""

    def __init__(self) -> None:
        self._done: dict[tuple[Node, bool], Node] = {}

    def __call__(self, node: Node, positive: bool = True) -> Node:
        """The condition, or its negation, in that form."""
        key = (node, positive)
        if key not in self._done:
            self._done[key] = self._form(node, positive)
        return self._done[key]

    def _form(self, node: Node, positive: bool) -> Node:
        if node.op is Op.NOT:
            return self(node.args[0], not positive)
        if node.op in (Op.AND, Op.OR):
            join = graph.conjunction if (node.op is Op.AND) is positive else graph.disjunction
            return join(*(self(arg, positive) for arg in node.args))
        if node.op is Op.ITE and node.sort is BOOL:
            condition, then, otherwise = node.args
            return graph.disjunction(
                graph.conjunction(self(condition), self(then, positive)),
                graph.conjunction(self(condition, False), self(otherwise, positive)),
            )
        return node if positive else graph.negation(node)


def members(node: Node, op: Op) -> tuple[Node, ...]:
    """The members of a conjunction or disjunction; of anything else, itself."""
    return node.args if node.op is op else (node,)
