"""A search that also judges liveness: states first, then the steps between them, then the circles.

A graph that is not complete, because of a limit or a violation, is judged as far as it goes: what
it shows is real, and that it shows nothing is no answer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import replace

from checker.core.engines.agreement import require_agreement
from checker.core.engines.compiled import Expander
from checker.core.engines.vectorised import VectorisedEngine
from checker.core.liveness.check import LivenessChecker
from checker.core.liveness.graph import KeptStates, StateGraph, build_graph
from checker.core.liveness.least import Least, least_fairness
from checker.core.search.explore import Explorer
from checker.core.search.limits import (
    INTERRUPTED,
    Limits,
    Progress,
    Stop,
    memory_bytes,
    peak_memory_bytes,
)
from checker.core.search.question import Options
from checker.core.verdict import Exploration, Judgement, Verdict
from model.language.errors import UsageError
from model.language.fair_groups import groups_of
from model.language.fairness import Fairness
from model.language.protocol import Model
from properties import Liveness, Property


class LivenessSearch:
    """One search. `run` returns what it found, with `liveness` judged; `graph` is there after it.

    `fairness` is the protocol's own unless given. `judged` are further properties that will be
    asked about on the graph: they are compared with their functions, and end no search.
    """

    def __init__(
        self,
        model: Model,
        properties: Iterable[Property],
        promises: Iterable[Liveness],
        fairness: Iterable[Fairness] | None = None,
        limits: Limits | None = None,
        options: Options | None = None,
        on_progress: Callable[[Progress], None] | None = None,
        judged: Iterable[Property] = (),
    ) -> None:
        self.model = model
        self._judged = tuple(judged)
        self.promises = tuple(promises)
        self.fairness = tuple(model.protocol.fairness if fairness is None else fairness)
        self.limits = limits or Limits()
        self.options = options or Options()
        if self.options.symmetry:
            raise UsageError(
                "liveness is not checked with --symmetry: fairness tells members apart, and a "
                "circle of classes need not be one of states"
            )
        groups_of(model, self.fairness)  # says so if there is no such action
        self.graph: StateGraph | None = None
        self._kept = KeptStates()
        self.engine = VectorisedEngine(model)
        self._explorer = Explorer(
            model, properties, limits, options, on_progress, self.engine, journal=self._kept
        )
        self._stopped = False

    def least(self, prop: Liveness) -> Least:
        """After `run`, a least fairness under which the property holds; `Stop` at a limit."""
        if self.graph is None:
            raise UsageError("the search was stopped before the state graph was whole")
        checker = LivenessChecker(self.engine, self.graph, self.fairness, False)
        return least_fairness(
            checker, self.graph, self.model, self.fairness, prop, lambda: self._check(0)
        )

    def request_stop(self) -> None:
        """End the search soon, keeping what is known."""
        self._stopped = True
        self._explorer.request_stop()

    def run(self) -> Exploration:
        """Search all states, and judge every property."""
        self._started = time.perf_counter()
        cross_check = self.options.cross_check
        if cross_check:
            judged = [claim for prop in self.promises for claim in prop.judged(self.model)]
            agreement = require_agreement(
                self.model,
                [*self._explorer.result.properties, *self._judged, *judged],
                self.engine,
            )
        result = self._explorer.run()
        if cross_check:
            result.agreement = agreement
        try:
            expand = Expander(self.engine, None, self.options.compile_after or 0.0)
            self.graph = build_graph(
                self.engine, self._kept, expand, self.options.chunk, self._check
            )
            checker = LivenessChecker(self.engine, self.graph, self.fairness, cross_check)
            for prop in self.promises:
                self._check(0)
                result.liveness += checker.check([prop])
        except Stop as stop:
            if not result.stopped:
                result.stopped = str(stop)
            result.liveness += [
                Judgement(prop, Verdict.UNKNOWN, self.fairness)
                for prop in self.promises[len(result.liveness) :]
            ]
        if result.stopped:
            result.liveness = [_unknown_if_open(judgement) for judgement in result.liveness]
        result.seconds = time.perf_counter() - self._started
        result.peak_memory_bytes = peak_memory_bytes()
        return result

    def _check(self, more: int) -> None:
        if self._stopped:
            raise Stop(INTERRUPTED)
        memory = 0
        if self.limits.memory is not None:
            memory = memory_bytes() + more
        self.limits.check(time.perf_counter() - self._started, memory)


def _unknown_if_open(judgement: Judgement) -> Judgement:
    return judgement if judgement.lasso else replace(judgement, verdict=Verdict.UNKNOWN)
