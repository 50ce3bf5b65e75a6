"""Variables that stay blank for ever, with the bounds and settings that were chosen.

A protocol may have steps that few ask for: fetches that stall, operators who change settings. Their
variables cost a search nothing as long as nobody asks: cells that cannot change take no room in
packed states, and expressions over them are simplified before they are compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TypeVar

from model.language import graph
from model.language.cells import StateSpace
from model.language.graph import Node, Op
from model.language.ground import GroundAction, cell_node

Value = TypeVar("Value")


def unchanging(
    blank: Mapping[str, Value], changed: Callable[[Mapping[str, Value]], Collection[str]]
) -> dict[str, Value]:
    """The variables that are blank in every reachable state, of those that are so at first.

    `changed` names those of a set that some action may assign anything else as long as all of the
    set are blank. The largest set of which it names none: by induction all stay blank.
    """
    found = dict(blank)
    while names := changed(found):
        found = {name: value for name, value in found.items() if name not in names}
    return found


def narrowed(
    space: StateSpace, initial: Sequence[int], actions: Sequence[GroundAction]
) -> tuple[dict[str, int], tuple[GroundAction, ...]]:
    """The variables that are blank in every reachable state, with the number that they have.

    A number that names a member is left out, so that renaming members leaves the rest as it is.
    Also the actions that may be enabled, over what is left: as `Model.ground_actions_with` grounds
    them, at a tenth of the cost.
    """
    others = {
        cell.variable.name
        for cell in space.cells
        if initial[cell.position] != cell.blank or graph.names_a_member(cell.variable.blank)
    }

    def changed(blank: Mapping[str, int]) -> set[str]:
        simplified = _Simplified(space, blank)
        return {
            space.cells[position].variable.name
            for action in actions
            if simplified.node(action.guard) is not graph.FALSE
            for position, node in action.assignments.items()
            if space.cells[position].variable.name in blank
            and not simplified.is_constant(node, space.cells[position].blank)
        }

    blank = {c.variable.name: c.blank for c in space.cells if c.variable.name not in others}
    found = unchanging(blank, changed)
    return found, tuple(_Simplified(space, found).actions(actions))


class _Simplified:
    """Ground expressions where some variables are constants."""

    def __init__(self, space: StateSpace, constants: Mapping[str, int]) -> None:
        self._space = space
        self._constants = constants
        self._done: dict[Node, Node] = {}

    def actions(self, actions: Sequence[GroundAction]) -> Iterator[GroundAction]:
        """Those that may be enabled. What they assign to constants is what these are."""
        for action in actions:
            guard = self.node(action.guard)
            if guard is graph.FALSE:
                continue
            kept = {
                position: value
                for position, before in action.assignments.items()
                if (value := self.node(before)) is not self._at(position)
            }
            yield GroundAction(action.instance, guard, kept, self.node(action.misfit))

    def _at(self, position: int) -> Node:
        return self.node(cell_node(0, self._space.cells[position]))

    def is_constant(self, node: Node, number: int) -> bool:
        """The expression is that number."""
        value = self.node(node)
        return value.op is Op.CONST and int(value.data) == number

    def node(self, node: Node) -> Node:
        """The expression over the variables that are left."""
        found = self._done.get(node)
        if found is None:
            found = self._done[node] = (
                self._cell(node)
                if node.op is Op.CELL
                else graph.rebuild(node, tuple([self.node(arg) for arg in node.args]))
            )
        return found

    def _cell(self, node: Node) -> Node:
        number = self._constants.get(self._space.cells[node.data[1]].variable.name)
        if number is None:
            return node
        return graph.constant(bool(number) if node.sort is graph.BOOL else number)
