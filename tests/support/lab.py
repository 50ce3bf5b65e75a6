"""A protocol with one of everything, for tests of the language: members, a table, a sequence.

`protocol_of(function)` makes a protocol whose single action is that function, so that a test can
write a few lines in the language and hold them against both engines.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from model.language import (
    Action,
    Annotated,
    Bound,
    Entity,
    Members,
    PerMember,
    Protocol,
    Record,
    Sequence,
    SetOf,
    State,
    Table,
    everybody,
    for_each,
    integers,
    members,
    nobody,
    sequence,
    table,
)
from model.language.protocol import Model

NODES = Bound("nodes", default=3, minimum=1, words="members of the family")
ROWS = Bound("rows", default=2, minimum=1, words="rows of the table")
SIZE = Bound("size", default=2, minimum=1, words="items of the sequence at most")


class Item(Record):
    """A record of the sequence."""

    tag: Annotated[int, integers(0, 2)] = 0
    mark: bool = False


class Node(Entity):
    """A member."""

    _label = "n"

    x: Annotated[int, integers(0, 3)] = 0
    flag: bool = False
    friend: Node | None = None
    group: SetOf[Node] = nobody()
    items: Sequence[Item] = sequence(SIZE)


class Row(Entity):
    """A row of the table; its blank value is not zero."""

    _label = "row "

    value: Annotated[int, integers(-1, 3)] = -1
    mark: bool = True
    votes: PerMember[Node, bool] = for_each(False)
    isr: SetOf[Node] = everybody()


class Part(Record):
    """A record that is part of the root."""

    m: Annotated[int, integers(0, 3)] = 1
    owner: Node | None = None


class Lab(State):
    """Everything that there is."""

    nodes: Members[Node] = members(NODES)
    rows: Table[Row] = table(ROWS)
    desk: Part = Part.part()
    n: Annotated[int, integers(-3, 4)] = 0
    flag: bool = False
    chosen: Node | None = None
    group: SetOf[Node] = everybody()


def protocol_of(function: Callable[..., None], **changes: Any) -> Protocol:
    """The protocol whose single action is `function`."""
    action = Action(function.__name__, function, function.__name__)
    return Protocol("lab", "for tests", Lab, (action,), (NODES, ROWS, SIZE), **changes)


def model_of(function: Callable[..., None], **bounds: int) -> Model:
    """The model of that protocol, whose variables may have any value that their domains have."""
    return protocol_of(function).model(bounds).wide
