"""The reduced search: fewer states, the same verdicts at the same depths.

It takes the steps that `stubborn.py` chooses, and of states that are as good as each other by
`relevance.py` the first.

What matters is asked of a state once, when it is seen for the first time, and waits beside it until
it is expanded. A set of its own, of whole states, tells which were seen.

Every goal that is open leaves less to leave out. So witnesses and premises, which are mostly found
soon, have a search of their own, which ends when all are: a full one, as it needs no preparation,
and a reduced one where that takes too many states.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from checker.core.engines.layout import Words
from checker.core.search.conveyor import Conveyor
from checker.core.search.explore import Expansion, Explorer, Limits, Options, Progress
from checker.core.search.findings import Findings
from checker.core.search.frontier import joined
from checker.core.search.limits import memory_bytes
from checker.core.search.stubborn import Reduction
from checker.core.search.visited_set import Batch, VisitedSet
from checker.core.verdict import Exploration
from model.language.errors import UsageError
from model.language.protocol import Model
from properties import Property, Sense

_WITHOUT_REDUCTION = 1 << 14
"""So many states are searched for witnesses in full, before that is worth a reduction."""


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
        self._first: Explorer | None = None
        if claims and (wanted := _to_be_reached(asked)):
            quiet = replace(self.options, cross_check=False)
            some = replace(self.limits, states=None)
            others["engine"] = self.engine
            self._first = Explorer(model, wanted, some, quiet, on_progress, **others)
            self._first._expand = self._expand  # the same code
            self._others = others
        patience = self.options.compile_after
        goals = [replace(prop, premise=None) for prop in claims] or asked
        self._reduction = Reduction(self.engine, goals, patience)
        self._visited = VisitedSet(self._reduction.relevance.words, self.options.exact)
        self._seen = VisitedSet(self.engine.layout.words, self.options.exact)
        self._relevant: deque[Words] = deque()  # in the states that are new, batch by batch

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
        found = self._first.run(
            lambda f: f.reached.keys() >= names or sum(f.levels) > _WITHOUT_REDUCTION
        )
        enough = found.reached.keys() >= names or self._first.question.is_answered(
            self._first.findings
        )
        if not enough and not found.stopped:
            first, seconds = self._first, found.seconds
            self._first = ReducedExplorer(
                self.model, first.question.properties, self.limits, first.options,
                self._on_progress, **self._others,
            )  # fmt: skip
            if self._stop_requested:
                self._first.request_stop()
            found = self._first.run(lambda findings: findings.reached.keys() >= names)
            found.seconds += seconds
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

    def _expanding(self, batches: Callable[[], Any]) -> Conveyor[Any, Expansion]:
        """One lane alone: what is seen decides of what it is asked what matters."""
        return Conveyor(batches, self._expanded, [self._add_new], self._ahead)

    def _put_first(self, words: Words) -> None:
        outlook = self._reduction.relevance(words)
        self._seen.insert(words)
        self._visited.insert(outlook.kept)
        self._relevant.append(outlook.relevant)
        self._frontier.put(self._waiting(words))

    def _waiting(self, words: Words) -> Words:
        """Beside the states, what is relevant in them."""
        return np.concatenate([words, self._relevant.popleft()])

    def _expanded(self, pieces: Any) -> Expansion:
        """The steps of a batch that are enough."""
        waiting, own = joined(pieces), self.engine.layout.words
        words, relevant = waiting[:own], waiting[own:]
        steps = self._steps(words)
        steps = steps.only(self._reduction.kept(words, relevant, steps))
        after = self._canonical(steps.words)
        return Expansion(words, steps, after, self._seen.batch(after))

    def _add_new(self, expansion: Expansion) -> None:
        """Add to what was seen; new is what was not, and differs in what matters."""
        batch = expansion.batch
        self._make_room(self._seen, batch)
        seen_first = np.flatnonzero(self._seen.add(batch))
        outlook = self._reduction.relevance(expansion.after[:, seen_first])
        told_apart = self._visited.batch(outlook.kept)
        self._make_room(self._visited, told_apart)
        new = self._visited.add(told_apart)
        batch.new[seen_first] = new
        self._relevant.append(outlook.relevant[:, new])

    def _make_room(self, visited: VisitedSet, batch: Batch) -> None:
        if self.limits.memory is not None:
            more = visited.growth(batch)
            self.limits.check(self._elapsed(), memory_bytes() + more)
            visited.make_room(batch)

    def _finish(self) -> None:
        super()._finish()
        both = self._seen.collision_probability + self._visited.collision_probability
        self.result.collision_probability = min(both, 1.0)


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
