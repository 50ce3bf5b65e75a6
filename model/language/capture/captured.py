"""What a capture comes to: guards and assignments, and the state that assignments leave behind."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from model.language import graph
from model.language.declare.domains import IndexSet
from model.language.declare.variables import Variable
from model.language.graph import Node


@dataclass(frozen=True)
class Write:
    """One captured assignment: `variable[index] = value`, for every value of `binders`.

    A binder stands alone at one place of `index`. `value` reads only the state before the step,
    and is the old value where the condition `when` does not hold. Later writes win over earlier.
    """

    variable: Variable
    index: tuple[Node, ...]
    value: Node
    binders: tuple[Node, ...] = ()
    when: Node = graph.TRUE

    def with_nodes(self, change: Callable[[Node], Node]) -> Write:
        """This assignment with each of its expressions changed."""
        index = tuple(map(change, self.index))
        return Write(self.variable, index, change(self.value), self.binders, change(self.when))


@dataclass(frozen=True)
class CapturedAction:
    """What an action does: it is enabled where all `guards` hold, and then does all `writes`."""

    name: str
    parameters: tuple[Node, ...]
    guards: tuple[Node, ...]
    writes: tuple[Write, ...]

    @property
    def nodes(self) -> tuple[Node, ...]:
        """All its expressions."""
        written = (node for w in self.writes for node in (*w.index, w.value, w.when))
        return (*self.guards, *written)


def overlay(
    variable: Variable,
    index: tuple[Node, ...],
    writes: Iterable[Write],
    before: Node,
    admits: Callable[[IndexSet, Node], Node],
) -> Node:
    """The value of `variable` at `index` after the writes; `before` is the one without them.

    `admits` says where an index that is asked for is one of those that a loop runs through.
    """
    value = before
    for write in writes:
        if write.variable is not variable:
            continue
        replacement, conditions = {}, []
        for over, written, asked in zip(variable.index, write.index, index, strict=True):
            if written in write.binders:
                replacement[written] = asked
                conditions.append(admits(over, asked))
            else:
                conditions.append(graph.equal(written, asked))
        written_value = graph.substitute(write.value, replacement)
        value = graph.choose(graph.conjunction(*conditions), written_value, value)
    return value
