"""The textbook search: breadth first, one state at a time, on the reference engine.

It is slow and plain, and shares with the fast search only the question and the result: what both
find must be the same, state for state, so each is a check on the other.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from checker.core.engines.reference import ReferenceEngine, State
from checker.core.search.limits import (
    INTERRUPTED,
    Limits,
    Progress,
    Stop,
    memory_bytes,
    peak_memory_bytes,
)
from checker.core.search.question import Options, Question
from checker.core.verdict import ActionCount, Exploration, Violation
from model.language.protocol import Instance, Model
from properties import Property, Sense

REPORT_EVERY = 500  # states between two looks at limits of time and memory


class TextbookExplorer:
    """One search. `run` returns what it found; `request_stop` ends it after the current state."""

    def __init__(
        self,
        model: Model,
        properties: Iterable[Property],
        limits: Limits | None = None,
        options: Options | None = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> None:
        self.model = model
        self.limits = limits or Limits()
        self.options = options or Options()
        self.properties = tuple(properties)
        self.question = Question(self.properties, self.limits, self.options)
        self._engine = ReferenceEngine(model)
        self._on_progress = on_progress or (lambda _: None)
        self._stop_requested = False
        self._from: dict[State, tuple[State, Instance] | None] = {}
        self._settled: set[str] = set()
        self.result = Exploration(model, self.properties, "reference")
        for action in model.protocol.actions:
            self.result.actions[action.name] = ActionCount()

    def request_stop(self) -> None:
        """End the search soon, keeping what is known."""
        self._stop_requested = True

    def run(self) -> Exploration:
        """Search until nothing new is found, a property is violated, or a limit is reached."""
        self._started = time.perf_counter()
        self._require_the_language()
        result = self.result
        level = [self._engine.initial()]
        self._from[level[0]] = None
        self._judge_state(level[0], 0)
        result.levels.append(1)
        result.frontier = 1
        try:
            while not self.question.is_answered(result):
                level = self._next_level(level)
                result.frontier = len(level)
                if level:
                    result.levels.append(len(level))
        except Stop as stop:
            result.stopped = str(stop)
            result.unfinished = len(self._from) - sum(result.levels)
        self._finish()
        return result

    def _require_the_language(self) -> None:
        """Refuse what other engines refuse, with the same line; nothing else is made of it."""
        _ = self.model.captured
        for prop in self.properties:
            self.model.claim(prop.claim, 2 if prop.of_steps else 1)

    def _next_level(self, level: list[State]) -> list[State]:
        """The states one step from those of `level` that were not seen before, in order."""
        depth = len(self.result.levels)
        found: list[State] = []
        for number, state in enumerate(level):
            self._check_limits(number, len(level))
            steps = list(self._engine.successors(state))
            if self.options.deadlock and not steps and self.result.deadlock is None:
                self.result.deadlock = self._path(state)
            for instance, after in steps:
                self._take(state, instance, after, depth, found)
        return found

    def _take(
        self, state: State, instance: Instance, after: State, depth: int, found: list[State]
    ) -> None:
        """Count and judge one step, and the state it leads to if that is new."""
        if len(self._from) == self.limits.states and after not in self._from:
            raise self.limits.out_of_states
        counts = self.result.actions[instance.action.name]
        counts.enabled += 1
        self.result.transitions += 1
        self._judge_step(state, instance, after, depth)
        if after not in self._from:
            counts.new += 1
            self._from[after] = (state, instance)
            found.append(after)
            self._judge_state(after, depth)

    # --- properties --------------------------------------------------------------------------

    def _judge_state(self, state: State, depth: int) -> None:
        for prop in self.properties:
            if prop.premise is not None and self._engine.holds(prop.premise, state):
                self.result.premises.add(prop.name)
            if not prop.of_steps and self._is_settled_by(prop, state):
                self._settle(prop, depth, self._path(state))

    def _judge_step(self, state: State, instance: Instance, after: State, depth: int) -> None:
        for prop in self.properties:
            if prop.of_steps and self._is_settled_by(prop, state, after):
                self._settle(prop, depth, (*self._path(state), instance))

    def _is_settled_by(self, prop: Property, *states: State) -> bool:
        """An open property of which these states give the answer."""
        if prop.name in self._settled:
            return False
        return self._engine.holds(prop.claim, *states) is (prop.sense is Sense.SOMETIMES)

    def _settle(self, prop: Property, depth: int, steps: tuple[Instance, ...]) -> None:
        if prop.sense is Sense.SOMETIMES:
            self.result.reached[prop.name] = depth
        else:
            self.result.violations.append(Violation(prop, depth, steps))
        self._settled.add(prop.name)

    def _path(self, state: State) -> tuple[Instance, ...]:
        """The steps from the initial state."""
        steps = []
        link = self._from[state]
        while link is not None:
            state, instance = link
            steps.append(instance)
            link = self._from[state]
        return tuple(reversed(steps))

    # --- limits and results ------------------------------------------------------------------

    def _check_limits(self, expanded: int, frontier: int) -> None:
        if self._stop_requested:
            raise Stop(INTERRUPTED)
        states, seconds, memory = len(self._from), time.perf_counter() - self._started, 0
        if expanded % REPORT_EVERY == 0:
            if self.limits.memory is not None:
                memory = memory_bytes()
            depth, transitions = len(self.result.levels), self.result.transitions
            self._on_progress(Progress(depth, expanded, frontier, states, transitions, seconds))
        self.limits.check(seconds, memory)

    def _finish(self) -> None:
        result = self.result
        result.violations.sort(key=lambda violation: self.properties.index(violation.property))
        result.fingerprint_bits = 0
        result.seconds = time.perf_counter() - self._started
        result.peak_memory_bytes = peak_memory_bytes()
