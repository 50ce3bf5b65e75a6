"""Watching: properties evaluated as packed states and steps come in, whoever finds them.

Search and simulation differ in which states they visit, not in what they look for.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from checker.engines.layout import Words
from checker.engines.vectorised import Claims, Successors, VectorisedEngine
from properties import Property, Sense


class Watch:
    """Evaluates the properties as states and steps come in, and remembers what was found first.

    For a violation it keeps (depth, state number, instance): the state that falsifies the claim, or
    for a claim about steps the state before and the action instance.
    """

    def __init__(self, engine: VectorisedEngine, properties: tuple[Property, ...]) -> None:
        self._engine = engine
        self._properties = properties
        self.violated: dict[Property, tuple[int, int, int | None]] = {}
        self.reached: dict[str, int] = {}
        self.premises: set[str] = set()
        self.deadlock: int | None = None
        self._compile()

    @property
    def all_settled(self) -> bool:
        """Every invariant is violated and every witness reached: nothing is left to find."""
        return all(p in self.violated or p.name in self.reached for p in self._properties)

    @property
    def violated_in_order(self) -> list[Property]:
        """What is violated, in the order of declaration, whichever chunk showed it first."""
        return [p for p in self._properties if p in self.violated]

    def restore(
        self,
        violated: dict[str, tuple[int, int, int | None]],
        reached: dict[str, int],
        premises: set[str],
        deadlock: int | None,
    ) -> None:
        """Go on from what an earlier run noted, properties by name."""
        self.violated = {p: violated[p.name] for p in self._properties if p.name in violated}
        self.reached, self.premises, self.deadlock = reached, premises, deadlock
        self._compile()

    def _compile(self) -> None:
        """Build the programs for what is still open."""
        open_ones = [
            p for p in self._properties if p not in self.violated and p.name not in self.reached
        ]
        self._of_states = [p for p in open_ones if not p.of_steps]
        self._of_steps = [p for p in open_ones if p.of_steps]
        self._premises = [
            p for p in self._properties if p.premise is not None and p.name not in self.premises
        ]
        self._state_claims = self._engine.claims(self._of_states)
        self._step_claims = self._engine.claims(self._of_steps)
        premises = [
            self._engine.model.ground_claim(p.premise)
            for p in self._premises
            if p.premise is not None
        ]
        self._premise_claims = Claims(premises, self._engine.layout)

    def states(self, words: Words, first: int, depth: int) -> None:
        """Check new states, numbered from `first` on."""
        if not words.shape[1]:
            return
        settled = False
        for prop, holds in zip(self._of_states, self._state_claims(words), strict=True):
            place = _first(holds, prop)
            if place is not None:
                settled = True
                self._note(prop, depth, first + place, None)
        for prop, holds in zip(self._premises, self._premise_claims(words), strict=True):
            if holds.any():
                settled = True
                self.premises.add(prop.name)
        if settled:
            self._compile()

    def steps(self, words: Words, steps: Successors, first: int, depth: int) -> None:
        """Check the steps of a batch whose states are numbered from `first` on."""
        if not self._of_steps or not steps.count:
            return
        settled = False
        before = words.take(steps.rows, axis=1)
        for prop, holds in zip(self._of_steps, self._step_claims(before, steps.words), strict=True):
            place = _first(holds, prop)
            if place is not None:
                settled = True
                state = first + int(steps.rows[place])
                self._note(prop, depth, state, int(steps.instances[place]))
        if settled:
            self._compile()

    def dead_ends(self, count: int, rows: npt.NDArray[np.int32], first: int) -> None:
        """Note the first state of a batch that enables nothing."""
        if self.deadlock is None:
            stuck = np.flatnonzero(np.bincount(rows, minlength=count) == 0)
            if len(stuck):
                self.deadlock = first + int(stuck[0])

    def _note(self, prop: Property, depth: int, state: int, instance: int | None) -> None:
        if prop.sense is Sense.SOMETIMES:
            self.reached[prop.name] = depth
        else:
            self.violated[prop] = (depth, state, instance)


def _first(holds: npt.NDArray[np.bool_], prop: Property) -> int | None:
    """The first place that settles a property: where it fails, or for a witness where it holds."""
    settles = holds if prop.sense is Sense.SOMETIMES else ~holds
    place = int(settles.argmax())
    return place if settles[place] else None
