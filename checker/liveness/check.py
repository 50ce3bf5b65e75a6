"""Liveness properties on the state graph: what is owed where, and whether a fair run never pays.

Each property is brought to one question. Runs that begin to owe in a *source* and stay *inside*,
among states where they still owe, break it if they are fair; for `eventually always` they may be
anywhere, but go through a state that breaks it again and again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from checker.engines.agreement import require_agreement
from checker.engines.vectorised import Claims, VectorisedEngine
from checker.liveness.components import Masks, reach
from checker.liveness.fair import Fair, enabled_in, fair_components
from checker.liveness.graph import Flags, Numbers, Offsets, StateGraph
from checker.liveness.lasso import Loop, way_to
from checker.liveness.room import Room, with_room
from checker.search.question import DEFAULT_CHUNK
from checker.verdict import Judgement, Lasso, Verdict, together
from model.language.fairness import Fairness, groups_of
from properties.liveness import Case, Kind, Liveness


@dataclass(frozen=True)
class Question:
    """Where runs begin to owe, where they owe still, and what they must go through if they do."""

    sources: Numbers
    inside: Flags
    wanted: Flags | None
    owed: bool


class LivenessChecker:
    """Checks properties of one graph, under one choice of fairness."""

    def __init__(
        self,
        engine: VectorisedEngine,
        graph: StateGraph,
        fairness: Sequence[Fairness],
        cross_check: bool = True,
    ) -> None:
        self._cross_check = cross_check
        self._engine = engine
        self._graph = graph
        self._fairness = tuple(fairness)
        model = engine.model
        self._fair = Fair(groups_of(model, self._fairness), len(model.instances))
        self._depths = graph.depths()
        self._room: Room | None = None
        self._has_room: bool | None = None
        self._by: Offsets | None = None

    def check(self, properties: Iterable[Liveness]) -> list[Judgement]:
        """The judgement on each property, in order."""
        coverage = Verdict.EXHAUSTED if self._graph.is_complete else Verdict.BOUNDED
        return [
            together([self._case(p, c) for c in p.cases(self._engine.model)], coverage)
            for p in properties
        ]

    def _case(self, prop: Liveness, case: Case) -> Judgement:
        graph = self._graph
        question = self._question(prop.kind, case)
        starts = self._depths.take(question.sources)
        far, by = reach(graph.offsets, graph.targets, question.sources, starts, question.inside)
        inside = far >= 0
        enabled = enabled_in(graph, self._fair, inside)
        part = fair_components(graph, self._fair, inside, enabled, question.wanted)
        fair, suspects = self._fair, int((part >= 0).sum())
        if suspects and self._fair.groups:
            fair, enabled = self._with_room(part >= 0, enabled)
            part = fair_components(graph, fair, part >= 0, enabled, question.wanted)
        found = np.flatnonzero(part >= 0)
        held_up = suspects - len(found)
        if not len(found):
            return Judgement(
                prop, Verdict.EXHAUSTED, self._fairness, case.member, None, held_up, question.owed
            )
        start = int(found[far[found].argmin()])
        lasso = self._lasso(start, by, Loop(graph, fair, part, enabled, question.wanted))
        return Judgement(prop, Verdict.VIOLATED, self._fairness, case.member, lasso, held_up)

    def _question(self, kind: Kind, case: Case) -> Question:
        holds = self._truth(case.claim)
        if kind is Kind.EVENTUALLY:
            sources = np.flatnonzero(~holds[:1])
            return Question(sources.astype(np.int32), ~holds, None, True)
        if kind is Kind.EVENTUALLY_ALWAYS:
            everywhere = np.ones(len(holds), np.bool_)
            return Question(np.zeros(min(1, len(holds)), np.int32), everywhere, ~holds, True)
        owes, owed = ~holds, True
        if kind is Kind.LEADS_TO:
            assert case.premise is not None
            premise = self._truth(case.premise)
            owes, owed = premise & ~holds, bool(premise.any())
        return Question(np.flatnonzero(owes).astype(np.int32), ~holds, None, owed)

    def _truth(self, claim: object) -> Flags:
        """Where a claim holds, of the states that are expanded."""
        engine, graph = self._engine, self._graph
        program = Claims([engine.model.ground_claim(claim)], engine.layout)  # type: ignore[arg-type]
        found = np.empty(graph.expanded, np.bool_)
        for start in range(0, graph.expanded, DEFAULT_CHUNK):
            end = min(start + DEFAULT_CHUNK, graph.expanded)
            (found[start:end],) = program(np.ascontiguousarray(graph.words[:, start:end]))
        return found

    def _with_room(self, suspects: Flags, enabled: Masks) -> tuple[Fair, Masks]:
        """Fairness that takes what only a bound forbids for enabled, in states that are suspects."""
        if self._has_room is None:
            larger = with_room(self._engine.model)
            self._has_room = larger is not None
            if larger is not None:
                self._room = Room(self._engine.model, larger, self._fairness)
                if self._cross_check:
                    require_agreement(larger)
        if self._room is None:
            return self._fair, enabled
        fair = self._room.fair
        more = np.zeros((len(enabled), fair.words), np.uint64)
        states = np.flatnonzero(suspects)
        more[states, : enabled.shape[1]] = enabled[states]
        for start in range(0, len(states), DEFAULT_CHUNK):
            some = states[start : start + DEFAULT_CHUNK]
            more[some] |= self._room.enabled(self._graph.words.take(some, axis=1))
        return fair, more

    def _lasso(self, start: int, by: Offsets, loop: Loop) -> Lasso:
        source, way = way_to(self._graph, by, start)
        if self._by is None:
            everywhere = np.ones(self._graph.expanded, np.bool_)
            zero = np.zeros(1, np.int32)
            _, self._by = reach(
                self._graph.offsets, self._graph.targets, zero, zero, everywhere
            )
        _, stem = way_to(self._graph, self._by, source)
        named = self._engine.model.instances
        return Lasso(
            tuple(named[number] for number in (*stem, *way)),
            tuple(named[number] for number in loop.through(start)),
        )
