"""Liveness properties on the state graph: what is owed where, and whether a fair run never pays.

Each property is brought to one question. Runs that begin to owe in a *source* and stay *inside*,
among states where they still owe, break it if they are fair; for `eventually always` they may be
anywhere, but go through a state that breaks it again and again.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from checker.core.engines.agreement import require_agreement
from checker.core.engines.vectorised import Claims, VectorisedEngine
from checker.core.liveness.components import Masks, reach
from checker.core.liveness.fair import Fair, enabled_in, fair_components
from checker.core.liveness.graph import Flags, Numbers, Offsets, StateGraph
from checker.core.liveness.lasso import Loop, way_to
from checker.core.liveness.room import Room, with_room
from checker.core.search.question import DEFAULT_CHUNK
from checker.core.verdict import Judgement, Lasso, Verdict, together
from model.language.fair_groups import groups_of
from model.language.fairness import Fairness
from model.language.protocol import Model
from properties.liveness import Case, Kind, Liveness


@dataclass(frozen=True)
class Question:
    """Where runs begin to owe, where they owe still, and what they must go through if they do."""

    sources: Numbers
    inside: Flags
    wanted: Flags | None
    owed: bool


@dataclass(frozen=True)
class Region:
    """The states that runs owe in, how far each is from the initial state, and by which edge."""

    question: Question
    far: Numbers
    by: Offsets


class LivenessChecker:
    """Checks properties of one graph, under one choice of fairness."""

    def __init__(
        self,
        engine: VectorisedEngine,
        graph: StateGraph,
        fairness: Sequence[Fairness],
        cross_check: bool = True,
    ) -> None:
        self._engine = engine
        self._graph = graph
        self._larger = functools.cache(lambda: _larger_engine(engine.model, cross_check))
        self._regions: dict[tuple[Kind, object, object], Region] = {}
        self._choose(fairness)

    def under(self, fairness: Sequence[Fairness]) -> LivenessChecker:
        """The same under other fairness; what does not depend on it is not computed again."""
        other = copy.copy(self)
        other._choose(fairness)
        return other

    def _choose(self, fairness: Sequence[Fairness]) -> None:
        model = self._engine.model
        self._fairness = tuple(fairness)
        self._fair = Fair(groups_of(model, self._fairness), len(model.instances))

    def check(self, properties: Iterable[Liveness]) -> list[Judgement]:
        """The judgement on each property, in order."""
        coverage = Verdict.EXHAUSTED if self._graph.is_complete else Verdict.BOUNDED
        return [
            together([self._case(p, c) for c in p.cases(self._engine.model)], coverage)
            for p in properties
        ]

    def is_violated(self, prop: Liveness) -> bool:
        """Whether some fair run violates the property, without showing one."""
        cases = prop.cases(self._engine.model)
        regions = (self._region(prop.kind, case) for case in cases)
        return any((self._fair_part(region)[0] >= 0).any() for region in regions)

    def _case(self, prop: Liveness, case: Case) -> Judgement:
        region = self._region(prop.kind, case)
        part, fair, enabled, suspects = self._fair_part(region)
        found = np.flatnonzero(part >= 0)
        judgement = Judgement(
            prop,
            Verdict.EXHAUSTED,
            self._fairness,
            case.member,
            held_up=suspects - len(found),
            owed=region.question.owed,
        )
        if not len(found):
            return judgement
        start = int(found[region.far[found].argmin()])
        loop = Loop(self._graph, fair, part, enabled, region.question.wanted)
        lasso = self._lasso(start, region.by, loop)
        return replace(judgement, verdict=Verdict.VIOLATED, lasso=lasso)

    def _region(self, kind: Kind, case: Case) -> Region:
        key = kind, case.claim, case.premise
        if key not in self._regions:
            graph, question = self._graph, self._question(kind, case)
            starts = graph.depths().take(question.sources)
            far, by = reach(graph.offsets, graph.targets, question.sources, starts, question.inside)
            self._regions[key] = Region(question, far, by)
        return self._regions[key]

    def _fair_part(self, region: Region) -> tuple[Numbers, Fair, Masks, int]:
        """The fair components, the fairness and what is enabled, and how many states are suspects.

        Suspects are those of fair components if there were no room beyond the bounds.
        """
        graph, wanted = self._graph, region.question.wanted
        inside: Flags = region.far >= 0
        enabled = enabled_in(graph, self._fair, inside)
        part = fair_components(graph, self._fair, inside, enabled, wanted)
        suspects: Flags = part >= 0
        count, larger = int(suspects.sum()), None
        if count and self._fair.groups:
            larger = self._larger()
        if larger is None:
            return part, self._fair, enabled, count
        room = Room(self._engine.model, larger, self._fairness)
        enabled = self._with_room(room, suspects, enabled)
        return (
            fair_components(graph, room.fair, suspects, enabled, wanted),
            room.fair,
            enabled,
            count,
        )

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

    def _truth(self, claim: Callable[..., bool]) -> Flags:
        """Where a claim holds, of the states that are expanded."""
        engine, graph = self._engine, self._graph
        program = Claims([engine.model.ground_claim(claim)], engine.layout)
        found = np.empty(graph.expanded, np.bool_)
        for start in range(0, graph.expanded, DEFAULT_CHUNK):
            end = min(start + DEFAULT_CHUNK, graph.expanded)
            (found[start:end],) = program(np.ascontiguousarray(graph.words[:, start:end]))
        return found

    def _with_room(self, room: Room, suspects: Flags, enabled: Masks) -> Masks:
        """What is enabled, and in suspects also what only a bound forbids."""
        more = np.zeros((len(enabled), room.fair.words), np.uint64)
        states = np.flatnonzero(suspects)
        more[states, : enabled.shape[1]] = enabled[states]
        for start in range(0, len(states), DEFAULT_CHUNK):
            some = states[start : start + DEFAULT_CHUNK]
            more[some] |= room.enabled(self._graph.words.take(some, axis=1))
        return more

    def _lasso(self, start: int, by: Offsets, loop: Loop) -> Lasso:
        source, way = way_to(self._graph, by, start)
        graph, first = self._graph, np.zeros(1, np.int32)
        everywhere = np.ones(graph.expanded, np.bool_)
        _, from_start = reach(graph.offsets, graph.targets, first, first, everywhere)
        _, stem = way_to(graph, from_start, source)
        named = self._engine.model.instances
        return Lasso(
            tuple(named[number] for number in (*stem, *way)),
            tuple(named[number] for number in loop.through(start)),
        )


def _larger_engine(model: Model, cross_check: bool) -> VectorisedEngine | None:
    """An engine for the model with room beyond its bounds, if there can be more of anything."""
    larger = with_room(model)
    if larger is None:
        return None
    if cross_check:
        require_agreement(larger)
    return VectorisedEngine(larger)
