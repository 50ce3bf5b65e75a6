"""Watching: properties evaluated as packed states and steps come in, whoever finds them.

Search and simulation differ in which states they visit, not in what they look for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt

from checker.core.engines.background import Background
from checker.core.engines.compiled_claims import JudgedClaims
from checker.core.engines.layout import Words
from checker.core.engines.vectorised import Claims, Successors, VectorisedEngine
from checker.core.search.findings import Findings
from properties import Property, Sense


class Watch:
    """Evaluates the properties as states and steps come in, and notes the first to settle each.

    With machine code once that pays, compiled in the `background`; `SwitchOver` says after which
    `patience`.
    """

    def __init__(
        self,
        engine: VectorisedEngine,
        properties: tuple[Property, ...],
        findings: Findings,
        background: Background | None = None,
        patience: float | None = None,
    ) -> None:
        self._engine = engine
        self._background = background
        self._patience = patience
        self._properties = properties
        self.go_on_from(findings)

    def go_on_from(self, findings: Findings) -> None:
        """Note into `findings` from now on; what they hold is not looked for again."""
        self._findings = findings
        self._compile()

    def _compile(self) -> None:
        """Build the programs for what is still open."""
        settled = self._findings.settled
        still_open = [p for p in self._properties if p.name not in settled]
        self._of_states = [p for p in still_open if not p.of_steps]
        self._of_steps = [p for p in still_open if p.of_steps]
        self._premises = [
            p
            for p in self._properties
            if p.premise is not None and p.name not in self._findings.premises
        ]
        self._state_claims = self._judged(self._engine.claims(self._of_states))
        self._step_claims = self._judged(self._engine.claims(self._of_steps))
        self._premise_claims = self._judged(premise_claims(self._engine, self._premises))

    def _judged(self, claims: Claims) -> JudgedClaims:
        return JudgedClaims(claims, self._background, self._patience)

    def states(self, words: Words, depth: int, link: Callable[[int], tuple[int, int]]) -> None:
        """Check new states; `link` gives the (parent, instance) of the one at a place."""
        if not words.shape[1]:
            return
        settled = False
        for prop, place in settling(self._of_states, self._state_claims(words)):
            settled = True
            self._note(prop, depth, *link(place))
        for prop, holds in zip(self._premises, self._premise_claims(words), strict=True):
            if holds.any():
                settled = True
                self._findings.premises.add(prop.name)
        if settled:
            self._compile()

    def steps(
        self, words: Words, steps: Successors, depth: int, number: Callable[[int], int]
    ) -> None:
        """Check the steps from a batch of states; `number` gives that of the one at a place."""
        if not self._of_steps or not steps.count:
            return
        settled = False
        before = words.take(steps.rows, axis=1)
        for prop, place in settling(self._of_steps, self._step_claims(before, steps.words)):
            settled = True
            self._note(prop, depth, number(int(steps.rows[place])), int(steps.instances[place]))
        if settled:
            self._compile()

    def _note(self, prop: Property, depth: int, parent: int, instance: int) -> None:
        if prop.sense is Sense.SOMETIMES:
            self._findings.reached[prop.name] = depth
        else:
            self._findings.violated[prop.name] = (depth, parent, instance)


def premise_claims(engine: VectorisedEngine, properties: Iterable[Property]) -> Claims:
    """A program for the premises of properties that have one."""
    return engine.judging(
        engine.model.ground_claim(prop.premise) for prop in properties if prop.premise is not None
    )


def settling(
    properties: Iterable[Property], results: Iterable[npt.NDArray[np.bool_]]
) -> Iterable[tuple[Property, int]]:
    """The properties that a batch settles, with the first place that does.

    That is where a claim fails, or for a witness where it holds.
    """
    for prop, holds in zip(properties, results, strict=True):
        place = _first(holds, prop)
        if place is not None:
            yield prop, place


def _first(holds: npt.NDArray[np.bool_], prop: Property) -> int | None:
    settles = holds if prop.sense is Sense.SOMETIMES else ~holds
    place = int(settles.argmax())
    return place if settles[place] else None


def first_dead_end(count: int, rows: npt.NDArray[np.int32]) -> int | None:
    """The first of `count` states that has no step; `rows` are those that the steps start from."""
    stuck = np.flatnonzero(np.bincount(rows, minlength=count) == 0)
    return int(stuck[0]) if len(stuck) else None
