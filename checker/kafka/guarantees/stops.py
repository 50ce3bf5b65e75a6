"""For how long something stops: what ends it, and in how many steps at the least.

Read off the state graph with one record. In a state that falsifies a property of availability, it
may be that brokers and the controller alone come to one in which it holds; or that they do once a
broker starts again; or that neither does. A model has no time: steps say what has to happen, one
after the other, and how fast that is is the cluster's matter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from checker.core.amounts import counted
from checker.core.graphs.built import Built, build
from checker.core.graphs.views import chosen_cells
from checker.core.liveness.graph import Flags, Numbers
from checker.core.search.limits import Limits
from checker.lab.experiments.choices import Choice
from model.kafka.faults import broker_restart
from model.kafka.replication_control import controller_elect_unclean_leader
from model.language.errors import LimitError
from properties import Property, choose_properties

SMALL = {"log_size": 1, "max_records": 1}


class Ends(IntEnum):
    """What it takes to end a stop, from the mildest on."""

    NEVER_BEGINS = 0
    BY_ITSELF = 1  # brokers and the controller go on
    WITH_A_RESTART = 2  # and a broker that is down starts again
    NOT_WITHIN_BOUNDS = 3  # nothing of that helps


@dataclass(frozen=True)
class Outage:
    """The worst of a property's stops: what ends it, and in how many steps at the least.

    `steps` is none where nothing does. `faults` is how few faults it takes for such a stop.
    """

    ends: Ends
    steps: int | None
    faults: int

    @property
    def words(self) -> str:
        """The outage in a clause."""
        if self.ends is Ends.NEVER_BEGINS:
            return "not with one record"
        if self.ends is Ends.BY_ITSELF:
            return f"ends by itself, at least {_steps(self.steps)} later"
        after = f"after {counted(self.faults, 'fault')}"
        if self.ends is Ends.WITH_A_RESTART:
            return f"{after} until a broker starts again, at least {_steps(self.steps)} later"
        return f"{after} for good, even when all brokers are back"

    def is_worse_than(self, other: Outage) -> bool:
        """It takes more to end it; or as much, if no broker does so alone, after fewer faults."""
        if self.ends is other.ends and self.ends > Ends.BY_ITSELF:
            return self.faults < other.faults
        return self.ends > other.ends


NONE = Outage(Ends.NEVER_BEGINS, 0, 0)


def _steps(count: int | None) -> str:
    return counted(count or 0, "step")


def outages(choice: Choice, names: Sequence[str], limits: Limits) -> Mapping[str, Outage]:
    """How long the properties' stops last; empty where the graph is too large for the limits."""
    small = Choice(
        choice.protocol, choice.preset, choice.settings, {**choice.bounds, **SMALL}
    )  # fmt: skip
    model = small.model
    chosen = choose_properties(model.protocol, names)
    try:
        built = build(model, chosen, limits)
    except LimitError:
        return {}
    if not built.graph.is_complete:
        return {}
    fair = {name for group in model.protocol.fairness for name in group.actions}
    alone = {*fair, controller_elect_unclean_leader.name}
    own = _steps_of(built, alone)
    back = _steps_of(built, {*alone, broker_restart.name})
    return {prop.name: _outage(built, prop, own, back) for prop in chosen}


def _steps_of(built: Built, actions: set[str]) -> Flags:
    numbers = [n for n, a in enumerate(built.model.protocol.actions) if a.name in actions]
    return np.isin(built.action_of_step, numbers)


def _outage(built: Built, prop: Property, own: Flags, back: Flags) -> Outage:
    """The worst stop; where no leader epoch is left, the bound is what ends everything."""
    model, layout, words = built.model, built.engine.layout, built.graph.words
    (epoch,) = chosen_cells(model, ["controller.leader_epoch"])
    holds = built.truth(prop)
    stopped = ~holds & (layout.column(words, epoch.position) < epoch.high)
    if not stopped.any():
        return NONE
    goals = np.flatnonzero(holds).astype(np.int32)
    starts = np.zeros_like(goals)
    by_itself, restarted = (built.to(goals, starts, kept) for kept in (own, back))
    spent = sum(layout.column(words, cell.position) for cell in chosen_cells(model, ["faults"]))
    for ends, worst in (
        (Ends.NOT_WITHIN_BOUNDS, stopped & (restarted < 0)),
        (Ends.WITH_A_RESTART, stopped & (by_itself < 0)),
        (Ends.BY_ITSELF, stopped),
    ):
        if worst.any():
            far: Numbers = (by_itself if ends is Ends.BY_ITSELF else restarted)[worst]
            steps = None if ends is Ends.NOT_WITHIN_BOUNDS else int(far.max())
            return Outage(ends, steps, int(np.asarray(spent)[worst].min()))
    raise AssertionError  # there is a stop, and it is one of these
