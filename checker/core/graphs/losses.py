"""Where a loss can still be avoided: what the state graph says of each state, and no run does.

A *loss* is a state, or a step, that falsifies one of the properties asked about. Of a state that is
none itself it is *possible* if some run from there comes to a loss, and *certain* if every fair run
does: no fair run from there stays clear of losses for ever. A step that goes from where it is not
certain to where it is, or to a loss, or is one, *settles* it, and where it leads is a point of no
return. Steps that change nothing are none, as for liveness, unless they are losses themselves.

What bounds keep from going on is taken as it is: a run that waits at a bound for ever is clear of
losses, so no bound makes a loss certain. Of a graph that a limit has cut, the states that were not
expanded count as a way out: what is called certain is so, and what is not may be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cached_property

import numpy as np
import numpy.typing as npt

from checker.core.graphs.built import Built
from checker.core.liveness.fair import Fair, enabled_in, fair_components
from checker.core.liveness.graph import Flags, Numbers, StateGraph
from model.language.errors import UsageError
from model.language.fair_groups import groups_of
from model.language.fairness import Fairness
from properties import Property, Sense


class Risk(IntEnum):
    """How a state stands to a loss; each includes those before it, but for `UNKNOWN`."""

    SAFE = 0  # no run from there comes to a loss
    POSSIBLE = 1  # some run does, and some fair run does not
    CERTAIN = 2  # every fair run does
    LOST = 3  # it is a loss
    UNKNOWN = 4  # no run that is known does, and not all runs are known


@dataclass(frozen=True)
class Losses:
    """The losses of a graph, and how every state stands to them.

    `lost` (states,) and `losing` (steps,) say which states, and which steps alone, are losses: a
    step to a state that is lost is not losing by itself. `distance` is the least number of known
    steps that end in a loss, 0 for one, -1 where no way is known: of a graph that a limit has cut,
    a way through states that were not expanded may be shorter. `certain` includes what is lost.
    `built` has the idle steps that are losses among its steps.
    """

    built: Built
    properties: tuple[Property, ...]
    lost: Flags
    losing: Flags
    distance: Numbers
    certain: Flags

    @cached_property
    def risk(self) -> npt.NDArray[np.int8]:
        """The `Risk` of each state."""
        found = np.where(self.distance >= 0, Risk.POSSIBLE, Risk.SAFE).astype(np.int8)
        if not self.built.graph.is_complete:
            found[(found == Risk.SAFE) & self._leads_out] = Risk.UNKNOWN
        found[self.certain] = Risk.CERTAIN
        found[self.lost] = Risk.LOST
        return found

    @property
    def _leads_out(self) -> Flags:
        """The states from which some run leaves what is known."""
        built = self.built
        beyond = np.arange(built.graph.expanded, built.states, dtype=np.int32)
        return built.to(beyond, np.zeros_like(beyond)) >= 0

    @cached_property
    def settling(self) -> npt.NDArray[np.int64]:
        """The steps that settle a loss, in order: before them it was not certain."""
        targets = self.built.graph.targets
        settles = self.certain[targets] | self.losing
        return np.flatnonzero(settles & ~self.certain[self.built.sources])

    @cached_property
    def points_of_no_return(self) -> Numbers:
        """Where settling steps lead, and the first state if a loss is certain from there."""
        found = set(self.built.graph.targets[self.settling].tolist())
        first = {0} if self.certain[0] else set()
        return np.array(sorted(found | first), np.int32)

    @property
    def is_possible(self) -> bool:
        """Some run from the first state comes to a loss."""
        return bool(self.distance[0] >= 0)


def find_losses(
    built: Built, properties: Sequence[Property], fairness: Sequence[Fairness]
) -> Losses:
    """The losses by any of the properties, which should all hold always; without any, none."""
    require_losing(properties)
    lost = np.zeros(built.states, np.bool_)
    for prop in properties:
        if not prop.of_steps:
            lost |= ~built.truth(prop)
    of_steps = [prop for prop in properties if prop.of_steps]
    built = _with_idle_losses(built, of_steps, lost)
    losing = np.zeros(built.steps, np.bool_)
    for prop in of_steps:
        losing |= ~built.truth_of_steps(prop)
    losing &= ~lost[built.graph.targets]
    goals = np.flatnonzero(lost)
    before = np.setdiff1d(built.sources[losing], goals)
    starts = np.repeat(np.array([0, 1], np.int32), [len(goals), len(before)])
    distance = built.to(np.concatenate([goals, before]).astype(np.int32), starts)
    certain = lost | ~_can_escape(built, fairness, lost, losing)
    return Losses(built, tuple(properties), lost, losing, distance, certain)


def _with_idle_losses(built: Built, of_steps: Sequence[Property], lost: Flags) -> Built:
    """The same, and the steps that change nothing but falsify a property are steps of its graph."""
    graph = built.graph
    losing = np.zeros(len(graph.idle_states), np.bool_)
    for prop in of_steps:
        losing |= ~built.truth_of_idle(prop)
    losing &= ~lost[graph.idle_states]
    return replace(built, graph=graph.with_idle(losing)) if losing.any() else built


def require_losing(properties: Sequence[Property]) -> None:
    """`UsageError` for a property that no state and no step falsifies."""
    for prop in properties:
        if prop.sense is not Sense.ALWAYS:
            raise UsageError(f"{prop.name} should be reached: no state falsifies it")


def _can_escape(built: Built, fairness: Sequence[Fairness], lost: Flags, losing: Flags) -> Flags:
    """The states from which some fair run comes to no loss, as far as is known."""
    graph = built.graph
    fair = Fair(groups_of(built.model, tuple(fairness)), len(built.model.instances))
    inside = ~lost[: graph.expanded]
    harmless = ~losing & ~lost[graph.targets] & ~lost[built.sources]
    kept = _without(graph, ~losing)
    changing = _without(graph, built.sources != graph.targets)
    part = fair_components(kept, fair, inside, enabled_in(changing, fair, inside))
    ends = np.zeros(built.states, np.bool_)
    ends[: graph.expanded] = part >= 0
    ends[graph.expanded :] = ~lost[graph.expanded :]
    goals = np.flatnonzero(ends).astype(np.int32)
    return np.asarray(built.to(goals, np.zeros_like(goals), harmless) >= 0)


def _without(graph: StateGraph, kept: Flags) -> StateGraph:
    """The graph with some of its steps alone."""
    if kept.all():
        return graph
    sizes = np.add.reduceat(np.append(kept, False), graph.offsets[:-1], dtype=np.int64)
    sizes[np.diff(graph.offsets) == 0] = 0
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return replace(
        graph, offsets=offsets, targets=graph.targets[kept], instances=graph.instances[kept]
    )
