"""What is held up by a bound alone: a log that is full is not a lack of progress.

Each state is put to the same protocol with room for one more of whatever the protocol says is cut
off by its bounds (`cut_by`): records, epochs. Budgets of faults are not among these. A fair step
that is possible there is held up by the bounds: fairness takes it for enabled, so a run that waits
for it is not fair, and no violation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from checker.core.engines.layout import Layout, Words
from checker.core.engines.vectorised import VectorisedEngine
from checker.core.liveness.components import Masks
from checker.core.liveness.fair import Fair
from model.language.fair_groups import groups_of
from model.language.fairness import Fairness
from model.language.protocol import Model


def with_room(model: Model) -> Model | None:
    """The model with every bound that cuts something off one larger; none if none may be.

    A bound stays if not every state of the model would be one of the larger model.
    """
    found = model
    for bound in model.protocol.cut_by:
        value = model.bounds[bound.name] + 1
        if value <= bound.maximum:
            larger = replace(found, bounds={**found.bounds, bound.name: value}, narrow=False)
            if _holds_states_of(larger, model):
                found = larger
    return None if found is model else found


def _holds_states_of(larger: Model, model: Model) -> bool:
    """Each cell of the model is one of the larger model, whose range is at least as wide."""
    ranges = {(c.variable.name, c.index): (c.low, c.high) for c in larger.declared}
    for cell in model.declared:
        low, high = ranges.get((cell.variable.name, cell.index), (1, 0))
        if not low <= cell.low <= cell.high <= high:
            return False
    return True


def roomy(model: Model, larger: Model, states: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """The states as states of the larger model: what there is more of is blank."""
    places = [model.positions.get((cell.variable.name, cell.index)) for cell in larger.declared]
    blank = [cell.blank for cell in larger.declared]
    return [
        tuple(b if p is None else state[p] for p, b in zip(places, blank, strict=True))
        for state in states
    ]


class Room:
    """Which groups a larger model's fair steps are of; `fair` has those of it alone last."""

    def __init__(
        self, model: Model, engine: VectorisedEngine, fairness: Sequence[Fairness]
    ) -> None:
        self._model, self._engine, larger = model, engine, engine.model
        own = groups_of(model, fairness)
        known = {(group.strength, group.words): number for number, group in enumerate(own)}
        groups = list(own)
        self._groups_of_step: dict[int, list[int]] = {}
        for group in groups_of(larger, fairness):
            number = known.get((group.strength, group.words))
            if number is None:
                number = len(groups)
                groups.append(type(group)(group.strength, group.words, frozenset()))
            for instance in group.instances:
                self._groups_of_step.setdefault(instance, []).append(number)
        self.fair = Fair(tuple(groups), len(model.instances))

    def enabled(self, words: Words) -> Masks:
        """The groups that are enabled in states of the smaller model if there is room."""
        larger = self._engine.model
        states = roomy(self._model, larger, Layout(self._model).unpack(words))
        after = self._engine.layout.pack(states)
        steps = self._engine.expand(after)
        changes = (steps.words != after.take(steps.rows, axis=1)).any(axis=0)
        found = np.zeros((words.shape[1], self.fair.words), np.uint64)
        of_step = np.zeros((len(larger.instances), self.fair.words), np.uint64)
        for instance, numbers in self._groups_of_step.items():
            of_step[instance] = self.fair.mask(numbers)
        rows = steps.rows[changes]
        np.bitwise_or.at(found, rows, of_step[steps.instances[changes]])
        return found
