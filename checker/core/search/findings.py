"""What a search knows after a level, whoever searches: noted by engines, kept by stores.

A state is told by its depth and its number in its level. Numbers order the states of a level by
their least traces; they need not be consecutive.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from checker.core.verdict import ActionCount, Exploration, Violation
from model.language.protocol import Instance

Numbers = npt.NDArray[np.int64]

Place = tuple[int, int]
"""A state by its depth and its number."""

Link = tuple[int, int, int]
"""A step by the depth that it leads to, the number of the state before it, and its instance.

The initial state has (0, -1, -1).
"""

Steps = tuple[Instance, ...]


@dataclass
class Findings:
    """Totals up to a level. `enabled` and `new` count by action instance.

    `levels[d]` is the number of states at depth d, `frontier` that of states not yet expanded: 0
    when nothing is left to visit. `violated` gives the first step to falsify each property.
    """

    enabled: Numbers
    new: Numbers
    levels: list[int] = field(default_factory=list)
    frontier: int = 0
    transitions: int = 0
    violated: dict[str, Link] = field(default_factory=dict)
    reached: dict[str, int] = field(default_factory=dict)
    premises: set[str] = field(default_factory=set)
    deadlock: Place | None = None
    seconds: float = 0.0

    @classmethod
    def none(cls, instances: int) -> Findings:
        """Nothing is known yet of a model with so many action instances."""
        return cls(np.zeros(instances, np.int64), np.zeros(instances, np.int64))

    @property
    def depth(self) -> int:
        """The greatest depth at which there is a state."""
        return len(self.levels) - 1

    @property
    def last_level(self) -> int:
        """The depth of the level built last, which is empty where nothing is left to visit."""
        return self.depth if self.frontier else self.depth + 1

    @property
    def settled(self) -> set[str]:
        """The properties that need no more looking at."""
        return {*self.violated, *self.reached}

    def add_level(self, states: int, seconds: float) -> None:
        """A level is whole, `seconds` since the first run began."""
        self.frontier, self.seconds = states, seconds
        if states:
            self.levels.append(states)


def sparse(counts: Numbers) -> dict[int, int]:
    """The counts that are not 0, by instance."""
    return {int(number): int(counts[number]) for number in np.flatnonzero(counts)}


def spread(counts: Mapping[Any, int], instances: int) -> Numbers:
    """What `sparse` made, or JSON made of that, for so many instances."""
    found = np.zeros(instances, np.int64)
    for number, count in counts.items():
        found[int(number)] = count
    return found


def tell(
    result: Exploration,
    findings: Findings,
    path: Callable[[int, int], Sequence[int]],
    concrete: Callable[[Steps], Steps] = lambda steps: steps,
) -> None:
    """Put findings into a result.

    `path` gives the action instances on the least trace to a state, `concrete` the run that steps
    between classes of states stand for.
    """
    model = result.model

    def run(numbers: Sequence[int]) -> Steps:
        return concrete(tuple(model.instances[number] for number in numbers))

    result.levels, result.frontier = findings.levels, findings.frontier
    result.transitions, result.seconds = findings.transitions, findings.seconds
    result.actions = {action.name: ActionCount() for action in model.protocol.actions}
    for instance in model.instances:
        counts = result.actions[instance.action.name]
        counts.enabled += int(findings.enabled[instance.number])
        counts.new += int(findings.new[instance.number])
    for prop in result.properties:
        if prop.name in findings.violated:
            depth, parent, last = findings.violated[prop.name]
            steps = run([*path(depth - 1, parent), last] if depth else [])
            result.violations.append(Violation(prop, depth, steps))
    if findings.deadlock is not None:
        result.deadlock = run(path(*findings.deadlock))
    result.reached, result.premises = findings.reached, findings.premises
