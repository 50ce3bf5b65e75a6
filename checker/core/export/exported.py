"""What is exported of a model, whatever the language: its cells, its steps, and what must hold.

A step is an action instance as it was grounded, and with it what it makes of the claims about
steps: each over the state before, with the values that the step assigns put in. Most are true then
whatever the state, since most steps touch little of what a claim is about.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from model.language import graph
from model.language.cells import Cell
from model.language.errors import UsageError
from model.language.graph import Node
from model.language.ground import GroundAction, Grounder, cell_node
from model.language.naming import bounds_words, instance_words, settings_words
from model.language.protocol import Model
from properties import Property, Sense


@dataclass(frozen=True, eq=False)
class Exported:
    """A model and the properties that another checker is to check of it.

    `command` is what the user ran; `states` how many it has in all, where that is known. With
    `deadlock`, a state that enables nothing is an error there, too.
    """

    model: Model
    properties: tuple[Property, ...]
    command: str
    states: int | None = None
    deadlock: bool = False

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """The cells that have more than one number: what a state is made of over there."""
        return tuple(cell for cell in self.model.cells if cell.low < cell.high)

    @property
    def of_states(self) -> tuple[Property, ...]:
        """The properties that are claims about one state."""
        return tuple(prop for prop in self.properties if not prop.of_steps)

    @property
    def of_steps(self) -> tuple[Property, ...]:
        """The properties that are claims about a step."""
        return tuple(prop for prop in self.properties if prop.of_steps)

    def claim(self, prop: Property) -> Node:
        """The claim over cells: of frame 0, and if it is about steps of frame 1, too."""
        return self.model.ground_claim(prop.claim, prop.frames)

    def claim_of(self, prop: Property, step: GroundAction) -> Node:
        """What a claim about steps says of this one, over the state before it."""

        def value(frame: int, cell: Cell) -> Node:
            before = cell_node(0, cell)
            return step.assignments.get(cell.position, before) if frame else before

        grounder = Grounder(self.model, value)
        return grounder.expression(self.model.claim(prop.claim, prop.frames))

    def assignments(self, step: GroundAction) -> dict[int, Node]:
        """The new value of each cell that the step may change, over the state before."""
        known = {cell.position for cell in self.cells}
        return {p: node for p, node in step.assignments.items() if p in known}

    @cached_property
    def introduction(self) -> tuple[str, ...]:
        """What this is a model of, in lines for a comment."""
        model = self.model
        lines = [f"{model.protocol.name}: {model.protocol.words}", f"Written by: {self.command}"]
        lines.append(f"Bounds: {bounds_words(model.bounds)}")
        lines.append(f"Settings: {', '.join(settings_words(model)) or 'as by default'}")
        if self.states is not None:
            lines.append(f"States to expect: {self.states:,}, as `highwater explore` counts them")
        return tuple(lines)


def step_words(exported: Exported, step: GroundAction) -> str:
    """The action and its parameters by name."""
    return instance_words(exported.model, step.instance)


def exportable(properties: Iterable[Property], named: bool) -> tuple[Property, ...]:
    """Those that must hold always. What was `named` and is a witness is a `UsageError`."""
    chosen = tuple(properties)
    witnesses = [prop.name for prop in chosen if prop.sense is not Sense.ALWAYS]
    if named and witnesses:
        raise UsageError(
            f"{witnesses[0]} is a witness, which some state should reach: what is exported must "
            "hold in every state or step"
        )
    return tuple(prop for prop in chosen if prop.sense is Sense.ALWAYS)


def is_always(node: Node) -> bool:
    """The claim is true whatever the state."""
    return node is graph.TRUE
