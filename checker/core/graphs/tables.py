"""A graph as two tables, of nodes and arrows: the whole state graph, a quotient, what is near.

The *quotient* by a view has a node for each combination of values that the view's fields have in
some state. An arrow by an action instance leads from one to another if a step by that instance
leads from some state of the one to some state of the other; steps that the view does not show are
left out, and counted. So each run is a walk in the quotient, and not each walk is a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from checker.core.graphs.built import Built
from checker.core.graphs.losses import Losses, Risk
from checker.core.graphs.views import values_of, whole_state
from checker.core.liveness.graph import Flags
from checker.core.stores.decoding import column_name
from model.language.naming import instance_words
from model.language.protocol import Cell, Model

Integers = npt.NDArray[np.integer[Any]]

SHOWN = {
    Risk.SAFE: "safe",
    Risk.POSSIBLE: "possible",
    Risk.CERTAIN: "certain",
    Risk.LOST: "lost",
    Risk.UNKNOWN: "unknown",
}

OURS = frozenset({
    "node", "states", "depth", "loss", "to_loss", "expanded", "on_trace", *SHOWN.values(),
})  # fmt: skip
"""Names of columns of nodes that are not fields of the state."""


@dataclass(frozen=True)
class Column:
    """A value for each row: the number itself, or what stands for it in `values`."""

    name: str
    numbers: Integers
    values: tuple[Any, ...] | None = None

    def plain(self) -> list[Any]:
        """The values as Python has them."""
        numbers = self.numbers.tolist()
        return numbers if self.values is None else [self.values[n] for n in numbers]

    def rows(self, kept: Flags) -> Column:
        """The same for some of the rows."""
        return replace(self, numbers=self.numbers[kept])


@dataclass(frozen=True)
class Tables:
    """A directed graph with attributes. Nodes and arrows have an order, which is always the same.

    `ids` (nodes,) name the nodes: states keep their numbers wherever they are shown. `begin` and
    `end` (arrows,) say by position in `ids` where arrows begin and end; the column `step` of
    `arrows` tells parallel ones apart. `about` is of the graph as a whole.
    """

    ids: Integers
    nodes: tuple[Column, ...]
    begin: Integers
    end: Integers
    arrows: tuple[Column, ...]
    view: tuple[str, ...]
    about: dict[str, Any] = field(default_factory=dict)

    def without(self, kept: Flags) -> Tables:
        """What is left of it if the other nodes go, and their arrows."""
        place = np.cumsum(kept) - 1
        inner = kept[self.begin] & kept[self.end]
        return replace(
            self,
            ids=self.ids[kept],
            nodes=tuple(column.rows(kept) for column in self.nodes),
            begin=place[self.begin[inner]],
            end=place[self.end[inner]],
            arrows=tuple(column.rows(inner) for column in self.arrows),
        )


def whole(losses: Losses, on_trace: Sequence[int] = ()) -> Tables:
    """Every state and step. `on_trace` numbers the states of a trace, which are marked."""
    built = losses.built
    cells = whole_state(built.model)
    marks = np.zeros(built.states, np.int8)
    marks[list(on_trace)] = 1
    settles = np.zeros(built.steps, np.int8)
    settles[losses.settling] = 1
    expanded = np.arange(built.states) < built.graph.expanded
    nodes = [
        Column("depth", built.depths),
        Column("loss", losses.risk.astype(np.int32), tuple(SHOWN[risk] for risk in Risk)),
        _to_loss(losses.distance),
        *([] if built.graph.is_complete else [_truth("expanded", expanded)]),
        *([_truth("on_trace", marks)] if len(on_trace) else []),
        *(_column(built, cell) for cell in cells),
    ]
    return Tables(
        np.arange(built.states),
        tuple(nodes),
        built.sources,
        built.graph.targets,
        (*_of_steps(built.model, built.graph.instances), _truth("settles", settles)),
        tuple(field_name(cell) for cell in cells),
        _about(losses),
    )


def _column(built: Built, cell: Cell) -> Column:
    numbers = built.engine.layout.column(built.graph.words, cell.position)
    value = values_of(built.model, cell)
    known, places = np.unique(numbers, return_inverse=True)
    return Column(field_name(cell), places.astype(np.int32), tuple(map(value, known.tolist())))


def field_name(cell: Cell) -> str:
    """The column of a field: its name in `query`, made longer where that is one of ours."""
    name = column_name(cell)
    return f"state_{name}" if name in OURS else name


def _to_loss(distance: Integers) -> Column:
    known, places = np.unique(distance, return_inverse=True)
    return Column(
        "to_loss", places.astype(np.int32), tuple(None if n < 0 else n for n in known.tolist())
    )


def _truth(name: str, marks: npt.NDArray[Any]) -> Column:
    return Column(name, marks.astype(np.int8), (False, True))


def _of_steps(model: Model, instances: Integers) -> tuple[Column, Column]:
    steps = tuple(instance_words(model, each) for each in model.instances)
    actions = tuple(each.action.name for each in model.instances)
    return Column("step", instances, steps), Column("action", instances, actions)


def _about(losses: Losses) -> dict[str, Any]:
    """What the graph is of, as plain values."""
    built = losses.built
    identity = built.model.identity
    return {
        "protocol": identity["protocol"],
        **{
            name: ", ".join(f"{key}={value}" for key, value in identity[name].items())
            for name in ("bounds", "settings")
        },
        "properties": ", ".join(prop.name for prop in losses.properties),
        "complete": built.graph.is_complete,
    }


def quotient(losses: Losses, cells: Sequence[Cell]) -> Tables:
    """The quotient by the cells of a view, its nodes in the order in which states show them.

    Of each node: how many states it stands for, how many of these stand how to a loss, the least
    depth, and the least number of steps to a loss. Of each arrow: for how many steps it stands.
    """
    built = losses.built
    of_state, first = _classes(built, cells)
    count = len(first)
    stands = [np.bincount(of_state, losses.risk == risk, count).astype(np.int64) for risk in Risk]
    known = losses.distance >= 0
    nearest = np.full(count, np.iinfo(np.int32).max, np.int32)
    np.minimum.at(nearest, of_state[known], losses.distance[known])
    nearest[nearest == np.iinfo(np.int32).max] = -1
    nodes = [
        Column("states", np.bincount(of_state, minlength=count)),
        Column("depth", built.depths[first]),
        *(Column(SHOWN[risk], stands[risk]) for risk in Risk if risk is not Risk.UNKNOWN),
        *([] if built.graph.is_complete else [Column(SHOWN[Risk.UNKNOWN], stands[Risk.UNKNOWN])]),
        _to_loss(nearest),
        *(replace(c, numbers=c.numbers[first]) for c in (_column(built, cell) for cell in cells)),
    ]
    begin, end = of_state[built.sources], of_state[built.graph.targets]
    shown = begin != end
    kinds = len(built.model.instances)
    known_pairs, pair = np.unique(begin[shown] * count + end[shown], return_inverse=True)
    arrows, steps = np.unique(pair * kinds + built.graph.instances[shown], return_counts=True)
    places, instances = np.divmod(arrows, kinds)
    pairs = known_pairs[places]
    view = tuple(field_name(cell) for cell in cells)
    return Tables(
        np.arange(count),
        tuple(nodes),
        pairs // count,
        pairs % count,
        (*_of_steps(built.model, instances), Column("steps", steps)),
        view,
        _about(losses) | {"view": ", ".join(view), "not_shown": int((~shown).sum())},
    )


def _classes(built: Built, cells: Sequence[Cell]) -> tuple[Integers, Integers]:
    """The class of each state by the values of the cells, and the first state of each class."""
    of_state = np.zeros(built.states, np.int64)
    for cell in cells:
        # Values are numbered: of these there are as many as states at most, and nothing wraps.
        numbers = built.engine.layout.column(built.graph.words, cell.position)
        known, value = np.unique(numbers, return_inverse=True)
        _, of_state = np.unique(of_state * len(known) + value, return_inverse=True)
    _, first = np.unique(of_state, return_index=True)
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return place[of_state], first[order]


def near(built: Built, states: Sequence[int], radius: int) -> Flags:
    """The states that at most `radius` steps, forwards or backwards, lead to from one of these."""
    found = np.zeros(built.states, np.bool_)
    found[list(states)] = True
    for _ in range(radius):
        touched = found.copy()
        touched[built.graph.targets[found[built.sources]]] = True
        touched[built.sources[found[built.graph.targets]]] = True
        if (touched == found).all():
            break
        found = touched
    return found
