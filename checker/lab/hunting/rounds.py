"""One round of a hunt: a model that was drawn, searched for some seconds, and what was found named.

A violation is made short and replayed on the reference engine. It is an instance of an entry of
the catalogue if the fix of that prevents the trace. Then the fix is switched on, and the search
goes on: what else is wrong must not hide behind what is known.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from checker.core.engines.agreement import require_agreement
from checker.core.engines.compiled import Expander
from checker.core.engines.vectorised import VectorisedEngine
from checker.core.search.findings import Findings
from checker.core.search.minimise import minimise
from checker.core.search.narrow import NarrowSearch, Width
from checker.core.search.question import DEFAULT_COMPILE_AFTER
from checker.core.search.simulate import Budget, Simulator
from checker.core.search.symmetry import Symmetry
from checker.core.search.watch import Watch
from checker.core.traces.trace import build_trace
from checker.core.verdict import Verdict
from checker.lab.experiments.choices import Choice
from checker.lab.experiments.grid import Result
from checker.lab.explanations.candidates import Candidate, Kind
from checker.lab.explanations.preventions import recognised
from checker.lab.hunting.plan import Plan, Round
from model.language.declare.settings import as_text
from model.language.errors import UsageError
from model.language.naming import instance_words
from model.language.protocol import Instance, Model
from properties import Property, Sense, promised_properties

LEVELS = 1_000
WIDE, SLIM = Width(20_000, 15_000, 40_000), Width(2_500, 1_875, 40_000)
WALKS = Budget(walks=16_384)
TURNS: tuple[Width | Budget, ...] = (WIDE, WALKS, SLIM, WALKS)
"""Narrow searches and walks take turns: each finds what the other does not."""

_MOST_RENAMED = 4  # members: of five, 120 renamings of every state take longer than they save
_SHORTENED_BY = 100_000  # states of a search that makes a trace short

Steps = tuple[Instance, ...]


@dataclass
class Hunted:
    """What searches of one model saw, in so many seconds; `is_whole`: all of its states."""

    violations: list[tuple[Property, Steps]] = field(default_factory=list)
    states: int = 0
    depth: int = 0
    turns: int = 0
    seconds: float = 0.0
    met: set[str] = field(default_factory=set)
    is_whole: bool = False


def run_round(this: Round, plan: Plan, seconds: float, cross_check: bool = True) -> Result:
    """Draw a round's model and hunt; what was found, as plain data."""
    started = time.perf_counter()
    choice = drawn = this.draw(plan)
    promised = promised_properties(choice.model, this.properties)
    known: set[str] = set()
    violations: list[dict[str, Any]] = []
    total = Hunted()
    possible: set[str] = set()
    left = seconds
    while left > 0:
        model = choice.model
        possible |= model.possible_actions
        asked = [p for p in promised if p.sense is Sense.ALWAYS and p.name not in known]
        found = hunt(model, asked, left, this.seed + this.number, cross_check)
        left -= found.seconds
        total.states += found.states
        total.turns += found.turns
        total.depth = max(total.depth, found.depth)
        total.met |= found.met
        total.is_whole = found.is_whole
        if not found.violations:
            break
        mended: Choice | None = None
        for prop, steps in _apart(found.violations):
            told, by = _told(choice, prop, steps, cross_check)
            violations.append(told)
            if by is None:
                known.add(prop.name)
            elif mended is None:
                mended = _mended(choice, by)
        choice = mended or choice
    return {
        "explored": drawn.arguments,
        "settings": {name: as_text(drawn.model.settings)[name] for name in plan.settings},
        "bounds": {name: drawn.model.bounds[name] for name in (*plan.sizes, *plan.faults)},
        "verdict": str(Verdict.VIOLATED if violations else
                       Verdict.EXHAUSTED if total.is_whole else Verdict.SAMPLED),
        "states": total.states,
        "depth": total.depth,
        "turns": total.turns,
        "met": sorted(total.met),
        "never_met": sorted(possible - total.met),
        "violations": violations,
        "seconds": round(time.perf_counter() - started, 2),
    }  # fmt: skip


def hunt(
    model: Model, properties: Sequence[Property], seconds: float, seed: int,
    cross_check: bool = True, turns: Sequence[Width | Budget] = TURNS,
) -> Hunted:  # fmt: skip
    """Narrow searches of a model and walks, one after the other, to a violation; a search that
    leaves nothing out is the last. They take so many seconds of the processor at most.
    """
    hunter = _Hunter(model, tuple(properties), seconds)
    if cross_check:
        require_agreement(model, properties, hunter.engine)
    return hunter.run(turns, np.random.default_rng(seed))


class _Hunter:
    """Searches one model in turns."""

    def __init__(self, model: Model, properties: tuple[Property, ...], seconds: float) -> None:
        self.engine = VectorisedEngine(model)
        self._model, self._properties, self._seconds = model, properties, seconds
        self._findings = Findings.none(len(model.instances))
        self._watch = Watch(self.engine, properties, self._findings, patience=DEFAULT_COMPILE_AFTER)
        self._expand = Expander(self.engine, None, DEFAULT_COMPILE_AFTER)
        self._symmetry = _symmetry(model, properties, self.engine)
        self._result = Hunted()

    def run(self, turns: Sequence[Width | Budget], seeds: np.random.Generator) -> Hunted:
        """Take turns until something is violated, everything was seen, or time is over."""
        result, self._began = self._result, time.process_time()
        while not self._is_over() and not result.is_whole:
            turn, seed = turns[result.turns % len(turns)], int(seeds.integers(2**32))
            if isinstance(turn, Width):
                self._search(turn, seed)
            else:
                self._walk(turn, seed)
            result.turns += 1
        result.seconds = time.process_time() - self._began
        return result

    def _is_over(self) -> bool:
        spent = time.process_time() - self._began
        return bool(self._result.violations or self._findings.violated) or spent >= self._seconds

    def _search(self, width: Width, seed: int) -> None:
        result, instances, symmetry = self._result, self._model.instances, self._symmetry
        search = NarrowSearch(
            self.engine, width, seed, watch=self._watch, expand=self._expand,
            **({"canonical": symmetry.canonical} if symmetry else {}),
        )  # fmt: skip
        search.run(LEVELS, self._is_over)
        result.states += search.states
        result.depth = max(result.depth, search.depth)
        result.is_whole = search.is_whole
        result.met |= {instances[k].action.name for k in np.flatnonzero(search.enabled)}
        for name, (depth, row, last) in self._findings.violated.items():
            numbers = [*search.way(depth - 1, row), last] if depth else []
            steps = tuple(instances[number] for number in numbers)
            if symmetry is not None:
                steps = symmetry.concrete(self._model.initial_state, steps)
            prop = next(prop for prop in self._properties if prop.name == name)
            result.violations.append((prop, steps))

    def _walk(self, budget: Budget, seed: int) -> None:
        result = self._result
        walks = Simulator(
            self._model, self._properties, seed, budget, engine=self.engine, cross_check=False,
            on_progress=lambda _: walks.request_stop() if self._is_over() else None,
        )  # fmt: skip
        walked = walks.run()
        result.states += walked.distinct_states
        result.depth = max(result.depth, walked.longest)
        result.met |= {name for name, count in walked.actions.items() if count.enabled}
        result.violations += [(found.property, found.steps) for found in walked.violations]


def _symmetry(
    model: Model, properties: Sequence[Property], engine: VectorisedEngine
) -> Symmetry | None:
    try:
        found = Symmetry(model, properties, engine.layout, patience=DEFAULT_COMPILE_AFTER)
    except UsageError:
        return None
    return found if model.extents[found.family] <= _MOST_RENAMED else None


def _apart(violations: list[tuple[Property, Steps]]) -> list[tuple[Property, Steps]]:
    """Without those that another property has told: the same step is wrong in several ways."""
    first: dict[Steps, tuple[Property, Steps]] = {}
    for each in violations:
        first.setdefault(each[1], each)
    return list(first.values())


def _told(
    choice: Choice, prop: Property, steps: Steps, cross_check: bool
) -> tuple[dict[str, Any], Candidate | None]:
    """A violation as plain data, made short and replayed; and what mends it, if that is known.

    To make it as short as can be takes longest, and is done where nothing explains it else.
    """
    model = choice.model
    for thorough in (False, True):
        short = minimise(
            model, steps, prop, None, _SHORTENED_BY, cross_check=cross_check, thorough=thorough
        )
        found = recognised(build_trace(model, short.steps, prop))
        if found is not None:
            break
    by = None if found is None else found.candidate
    return {
        "explored": f"{choice.arguments} --property {prop.name}",
        "choice": asdict(choice),
        "property": prop.name,
        "depth": len(short.steps),
        "found_at": len(steps),
        "steps": [instance_words(model, step) for step in short.steps],
        "instance_of": None if by is None else {
            "case": by.entries[0].case, "title": by.entries[0].title,
            "source": by.entries[0].source, "likeness": round(by.entries[0].likeness, 2),
            "change": by.words,
        },
    }, by  # fmt: skip


def _mended(choice: Choice, by: Candidate) -> Choice:
    """The choice with the fix of a known violation."""
    if by.kind is Kind.PROTOCOL:
        return replace(choice, protocol=by.model.protocol.name, preset="", settings={})
    return choice.with_settings(by.settings)
