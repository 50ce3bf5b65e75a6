"""A fair run that never does what it must, as a lasso: the way there, and a circle for ever.

The way is a shortest one. The circle is made step by step: from where the way ends to the nearest
step or state that meets some fairness which is still owed, and back when none is.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable

import numpy as np

from checker.core.liveness.components import Masks
from checker.core.liveness.fair import Fair
from checker.core.liveness.graph import Flags, Numbers, Offsets, StateGraph
from model.language.fairness import Strength

MOST_SHORTENED = 200  # steps


def way_to(graph: StateGraph, by: Offsets, state: int) -> tuple[int, list[int]]:
    """Where the way to a state begins, and its instances: `by` as `components.reach` gives it."""
    steps: list[int] = []
    while by[state] >= 0:
        edge = int(by[state])
        steps.append(int(graph.instances[edge]))
        state = int(np.searchsorted(graph.offsets, edge, side="right")) - 1
    return state, steps[::-1]


class Loop:
    """Finds a short circle within one fair component that is fair by itself."""

    def __init__(
        self, graph: StateGraph, fair: Fair, part: Numbers, enabled: Masks, wanted: Flags | None
    ) -> None:
        self._graph = graph
        self._fair = fair
        self._part = part
        self._enabled = enabled
        self._wanted = wanted
        self._weak = set(fair.numbers(fair.of_strength(Strength.WEAK)))
        self._strong = set(fair.numbers(fair.of_strength(Strength.STRONG)))
        self._of_instance: dict[int, set[int]] = {}

    def through(self, start: int) -> tuple[int, ...]:
        """The instances of a fair circle from `start` and back; empty if the run may stop there."""
        self._own = int(self._part[start])
        self._begin(start)
        circle: list[tuple[int, int]] = []
        state = start
        while self._owes():
            steps, state = self._nearest(state, self._pays)
            circle += steps
        while state != start or self._owes():
            goal = self._pays if self._owes() else lambda _, __, target: target == start
            steps, state = self._nearest(state, goal)
            circle += steps
        return tuple(instance for instance, _ in self._shortened(start, circle))

    def _begin(self, start: int) -> None:
        self._seen = False
        self._taken: set[int] = set()
        self._owed_strongly: set[int] = set()
        self._owed_weakly = set(self._weak)
        self._visit(start)

    def _shortened(self, start: int, circle: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """The circle without detours, which lead back to where they begin, that nothing needs."""
        length = len(circle) + 1
        while len(circle) < min(length, MOST_SHORTENED):
            length = len(circle)
            states = [start, *(target for _, target in circle)]
            for first, last in itertools.combinations(range(len(states)), 2):
                rest = circle[:first] + circle[last:]
                if states[first] == states[last] and self._is_fair(start, rest):
                    circle = rest
                    break
        return circle

    def _is_fair(self, start: int, circle: list[tuple[int, int]]) -> bool:
        self._begin(start)
        for instance, target in circle:
            self._visit(target, instance)
        return not self._owes()

    def _owes(self) -> bool:
        return bool(self._owed_strongly or self._owed_weakly) or not self._seen

    def _groups(self, state: int) -> set[int]:
        return set(self._fair.numbers(self._enabled[state]))

    def _visit(self, state: int, instance: int | None = None) -> None:
        """The circle comes to a state, by a step."""
        enabled = self._groups(state)
        if instance is not None:
            self._taken |= self._taken_by(instance)
        self._owed_strongly = (self._owed_strongly | (enabled & self._strong)) - self._taken
        self._owed_weakly &= enabled - self._taken
        self._seen |= self._wanted is None or bool(self._wanted[state])

    def _taken_by(self, instance: int) -> set[int]:
        found = self._of_instance.get(instance)
        if found is None:
            found = set(self._fair.numbers(self._fair.of_instance[instance]))
            self._of_instance[instance] = found
        return found

    def _pays(self, state: int, instance: int, target: int) -> bool:
        """The step meets something that is owed."""
        if self._taken_by(instance) & (self._owed_strongly | self._owed_weakly):
            return True
        if self._owed_weakly - self._groups(target):
            return True
        return not self._seen and self._wanted is not None and bool(self._wanted[target])

    def _nearest(
        self, start: int, goal: Callable[[int, int, int], bool]
    ) -> tuple[list[tuple[int, int]], int]:
        """The shortest way within the component that ends with a step as wanted; it is taken."""
        came: dict[int, tuple[int, int]] = {}
        seen, queue = {start}, deque([start])
        while queue:
            state = queue.popleft()
            for instance, target in self._graph.steps(state):
                if target >= len(self._part) or self._part[target] != self._own:
                    continue
                if goal(state, instance, target):
                    way = [(instance, target)]
                    while state != start:
                        before, by = came[state]
                        way.append((by, state))
                        state = before
                    way.reverse()
                    for step, reached in way:
                        self._visit(reached, step)
                    return way, target
                if target not in seen:
                    seen.add(target)
                    came[target] = (state, instance)
                    queue.append(target)
        raise RuntimeError("a fair component has no fair circle through one of its states")
