"""The reduced search: fewer states, the same verdicts at the same depths.

It takes the steps that `stubborn.py` chooses, and of states that are as good as each other by
`relevance.py` the first.

Every goal that is open leaves less to leave out. So witnesses and premises, which are mostly found
soon, have a search of their own, which ends when all are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from checker.core.engines.layout import Words
from checker.core.engines.vectorised import Successors
from checker.core.search.explore import Explorer, Limits, Options, Progress
from checker.core.search.findings import Findings
from checker.core.search.fingerprints import fingerprints
from checker.core.search.stubborn import Reduction
from checker.core.search.visited_set import VisitedSet
from checker.core.verdict import Exploration
from model.language.errors import UsageError
from model.language.protocol import Model
from properties import Property, Sense


class ReducedExplorer(Explorer):
    """A search that leaves out steps and states which no shortest way to what is asked needs.

    States and steps are counted without those of the search for witnesses. What does not fit its
    domain is found only on the steps that are taken, and that an action is never enabled is not.
    """

    def __init__(
        self,
        model: Model,
        properties: Iterable[Property],
        limits: Limits | None = None,
        options: Options | None = None,
        on_progress: Callable[[Progress], None] | None = None,
        **others: Any,
    ) -> None:
        super().__init__(model, properties, limits, options, on_progress, **others)
        if self.options.deadlock:
            raise UsageError("--reduce keeps no states that enable nothing: leave out --deadlock")
        self.result.reduced = True
        asked = self.result.properties
        claims = [prop for prop in asked if prop.sense is Sense.ALWAYS]
        self._first: ReducedExplorer | None = None
        if claims and (wanted := _to_be_reached(asked)):
            quiet = replace(self.options, cross_check=False)
            self._first = ReducedExplorer(model, wanted, limits, quiet, on_progress, **others)
        patience = self.options.compile_after
        goals = [replace(prop, premise=None) for prop in claims] or asked
        self._reduction = Reduction(self.engine, goals, None, patience)
        self._visited = VisitedSet(self._reduction.relevance.words, self.options.exact)

    def request_stop(self) -> None:
        """End the search soon, keeping what is known."""
        super().request_stop()
        if self._first is not None:
            self._first.request_stop()

    def run(self, until: Callable[[Findings], bool] = lambda _: False) -> Exploration:
        """Search until nothing new is found, a property is violated, or a limit is reached."""
        if self._first is None:
            return super().run(until)
        names = {prop.name for prop in self._first.result.properties}
        found = self._first.run(lambda findings: findings.reached.keys() >= names)
        for prop in self.result.properties:
            if prop.name in found.reached:
                self.findings.reached[prop.name] = found.reached[prop.name]
            if _of_premise(prop) in found.reached:
                self.findings.premises.add(prop.name)
        self._watch.go_on_from(self.findings)
        super().run((lambda _: True) if found.stopped else until)
        self.result.stopped = self.result.stopped or found.stopped
        self.result.seconds += found.seconds
        return self.result

    def _steps(self, words: Words) -> Successors:
        """The steps of a batch that are enough."""
        steps = super()._steps(words)
        return steps.only(self._reduction.kept(words, steps))

    def _told_apart_by(self, words: Words) -> Words:
        """What matters in the states; it is asked once of those that are equal."""
        order = np.argsort(fingerprints(words))
        in_order = words[:, order]
        first = np.ones(len(order), np.bool_)
        first[1:] = (in_order[:, 1:] != in_order[:, :-1]).any(axis=0)
        place = np.empty(len(order), np.int64)
        place[order] = np.cumsum(first) - 1
        return self._reduction.relevance(in_order[:, first]).kept[:, place]


def _to_be_reached(properties: Iterable[Property]) -> tuple[Property, ...]:
    """Witnesses, and premises as witnesses."""
    found = []
    for prop in properties:
        if prop.sense is Sense.SOMETIMES:
            found.append(replace(prop, premise=None))
        if prop.premise is not None:
            name, words = _of_premise(prop), f"the premise of {prop.name}"
            found.append(Property(name, words, prop.premise, Sense.SOMETIMES))
    return tuple(found)


def _of_premise(prop: Property) -> str:
    return f"{prop.name}, premise"
