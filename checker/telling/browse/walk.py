"""Walks through a state space: what was visited, as a tree, and what can be asked where one stands.

Everything runs on the reference engine; only "how near is a violation" is a search, which begins in
the state in question, and what it finds is replayed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from checker.core.amounts import counted
from checker.core.engines.reference import ReferenceEngine, State
from checker.core.engines.vectorised import VectorisedEngine
from checker.core.search.explore import Explorer
from checker.core.search.limits import Limits, who_stopped
from checker.core.search.question import Options
from checker.core.traces.itf_values import plain_state, state_of
from checker.core.traces.trace import Trace
from checker.core.verdict import Verdict
from checker.telling.report.page_data import PageData, difference
from model.language import Model
from model.language.errors import DomainError, UsageError
from model.language.protocol import Instance
from properties import Property, Sense, promised_properties

MAX_VISITED = 10_000
"""States that one walk keeps; a page cannot show more."""


@dataclass(frozen=True)
class Visited:
    """A state that was visited: from which one, by number, and by which step. Roots have neither.

    `words` say what the step did, or what a root is.
    """

    state: State
    before: int | None = None
    step: Instance | None = None
    words: str = ""


@dataclass(frozen=True)
class Near:
    """How near a violation is: the steps to it, if one was found, and what was looked at.

    `whole` is true if the search saw all that can be reached from there within the bounds.
    """

    found: Property | None
    steps: tuple[Instance, ...]
    states: int
    depth: int
    whole: bool
    stopped: str = ""

    @property
    def words(self) -> str:
        """The answer in one sentence."""
        seen = counted(self.states, "state")
        if self.found is not None and not self.steps:
            return f"{self.found.name} is violated here"
        if self.found is not None:
            many = counted(len(self.steps), "step")
            return f"{self.found.name} is violated {many} from here, and nothing sooner ({seen})"
        if self.whole:
            return f"nothing is violated in any state that can be reached from here ({seen})"
        why = f"; stopped by {who_stopped(self.stopped)}" if self.stopped else ""
        return f"nothing is violated within {counted(self.depth, 'step')} from here ({seen}{why})"


@dataclass
class Walk:
    """What was visited of a model. State 0 is the initial one, or the first of a given trace."""

    model: Model
    properties: tuple[Property, ...] = ()
    visited: list[Visited] = field(default_factory=list)
    _searching: Explorer | None = None
    _judged: dict[int, list[str]] = field(default_factory=dict)
    _is_compared: bool = False

    def __post_init__(self) -> None:
        if not self.properties:
            self.properties = promised_properties(self.model)
        self.properties = tuple(p for p in self.properties if p.sense is Sense.ALWAYS)
        self.engine = ReferenceEngine(self.model)
        self.visited.append(Visited(self.engine.initial(), words="initial state"))

    @cached_property
    def data(self) -> PageData:
        """States and runs as plain data."""
        return PageData(self.model)

    def _packed(self, at: int) -> VectorisedEngine:
        """What searches from there.

        What no run from the initial state changes has no room in the model's own packed states; a
        state that is given may have any value there.
        """
        is_reached = self.visited[self.numbers_to(at)[0]].state == self.engine.initial()
        return self._packed_model if is_reached else self._packed_wide

    @cached_property
    def _packed_model(self) -> VectorisedEngine:
        return VectorisedEngine(self.model)

    @cached_property
    def _packed_wide(self) -> VectorisedEngine:
        return VectorisedEngine(self.model.wide)

    # --- moving ------------------------------------------------------------------------------

    def take(self, at: int, number: int) -> int:
        """The state after the step with this number; `UsageError` if it is not enabled there."""
        here = self.place(at)
        if not 0 <= number < len(self.model.instances):
            raise UsageError(
                f"there is no step {number}: valid are 0 to {len(self.model.instances) - 1}"
            )
        step = self.model.instances[number]
        for k, known in enumerate(self.visited):
            if known.before == at and known.step is step:
                return k
        try:
            after = self.engine.step(here.state, step)
        except DomainError as error:
            raise UsageError(f"the step breaks its model: {error}") from None
        if after is None:
            raise UsageError(f"step {number} is not enabled in state {at}")
        return self._add(Visited(after, at, step, self.engine.words(here.state, step)))

    def follow(self, at: int, numbers: list[int]) -> int:
        """Take several steps; the state after the last."""
        for number in numbers:
            at = self.take(at, number)
        return at

    def begin(self, values: Any, words: str = "a state typed in") -> int:
        """Stand in a state that is given as traces write states; see `state_of`.

        `words` say where it comes from.
        """
        state = state_of(self.model, values)
        for k, known in enumerate(self.visited):
            if known.before is None and known.state == state:
                return k
        return self._add(Visited(state, words=f"{words}, perhaps unreachable"))

    def add_trace(self, trace: Trace) -> int:
        """Visit all states of a trace; the last of them."""
        at = 0
        if trace.states[0] != self.visited[0].state:
            at = self._add(
                Visited(trace.states[0], words="the first state of the trace, perhaps unreachable")
            )
        return self.follow(at, [step.number for step in trace.steps])

    def _add(self, found: Visited) -> int:
        if len(self.visited) >= MAX_VISITED:
            raise UsageError(f"{MAX_VISITED:,} states were visited: start again for more")
        self.visited.append(found)
        return len(self.visited) - 1

    def place(self, at: int) -> Visited:
        """The visited state of this number; `UsageError` if there is none."""
        if not 0 <= at < len(self.visited):
            raise UsageError(f"no state {at} was visited: valid are 0 to {len(self.visited) - 1}")
        return self.visited[at]

    def numbers_to(self, at: int) -> list[int]:
        """The visited states on the way to this one, its root first."""
        way = [at]
        while (before := self.place(way[-1]).before) is not None:
            way.append(before)
        return way[::-1]

    def run_to(self, at: int) -> tuple[tuple[State, ...], tuple[Instance, ...]]:
        """The states and steps on the way to a visited state."""
        way = [self.visited[number] for number in self.numbers_to(at)]
        return tuple(v.state for v in way), tuple(v.step for v in way if v.step is not None)

    # --- asking ------------------------------------------------------------------------------

    def enabled(self, at: int) -> Iterator[dict[str, Any]]:
        """Each step that is enabled there, with what it would change or how it breaks the model."""
        here = self.place(at).state
        told = self.data.state(here)
        known = {visited.state: k for k, visited in reversed(list(enumerate(self.visited)))}
        taken = {v.step.number: k for k, v in enumerate(self.visited) if v.before == at and v.step}
        for step in self.model.instances:
            about: dict[str, Any] = {"number": step.number, "action": step.action.name}
            try:
                after = self.engine.step(here, step)
            except DomainError as error:
                yield about | {"words": self.engine.words(here, step), "breaks": str(error)}
                continue
            if after is None:
                continue
            breaks = [p.name for p in self.violated(here, after) if p not in self.violated(here)]
            yield about | {
                "words": self.engine.words(here, step),
                "change": difference(told, self.data.state(after)),
                "violates": breaks,
                "known": taken.get(step.number, known.get(after)),
            }

    def violated(self, *states: State) -> list[Property]:
        """The properties that are false in the last of the states, or of the step to it."""
        found = []
        for claim in self.properties:
            if claim.frames <= len(states):
                among = states[len(states) - claim.frames :]
                if not self.engine.holds(claim.claim, *among):
                    found.append(claim)
        return found

    def near(self, at: int, depth: int, seconds: float) -> Near:
        """The nearest violation from there, by a search of at most so many steps and seconds.

        The first search of a walk compares the engine that searches with the reference engine.
        """
        state, engine = self.place(at).state, self._packed(at)
        limits = Limits(depth, seconds=seconds)
        how = Options(cross_check=not self._is_compared)
        search = Explorer(engine.model, self.properties, limits, how, engine=engine, start=state)
        self._searching = search
        try:
            result = search.run()
        finally:
            self._searching = None
        self._is_compared = True
        whole = result.coverage is Verdict.EXHAUSTED
        first = min(result.violations, key=lambda v: v.depth, default=None)
        states = sum(result.levels)
        if first is None:
            return Near(None, (), states, result.depth, whole, result.stopped or "")
        steps = tuple(self.model.instances[step.number] for step in first.steps)
        self._confirm(state, steps, first.property)
        return Near(first.property, steps, states, result.depth, whole)

    def _confirm(self, state: State, steps: tuple[Instance, ...], claim: Property) -> None:
        """What the search found, on the reference engine; else an internal error in Highwater."""
        states = [state]
        for step in steps:
            after = self.engine.step(states[-1], step)
            if after is None:
                raise RuntimeError(f"the reference engine does not take the way to {claim.name}")
            states.append(after)
        if claim not in self.violated(*states[-2:]):
            raise RuntimeError(f"the reference engine does not confirm that {claim.name} is false")

    def stop(self) -> None:
        """End a search that is under way."""
        if self._searching is not None:
            self._searching.request_stop()

    # --- as plain data -----------------------------------------------------------------------

    def view(self, at: int) -> dict[str, Any]:
        """What a page shows of a visited state: the way there, what is enabled, all visited."""
        states, steps = self.run_to(at)
        way = self.numbers_to(at)
        run = self.data.run(states, steps, self.properties)
        return {
            "at": at,
            "way": way,
            "run": run | {"first": self.visited[way[0]].words},
            "enabled": list(self.enabled(at)),
            "visited": [self._told(k) for k in range(len(self.visited))],
            "state": json.dumps(plain_state(self.model, self.visited[at].state), indent=1),
        }

    def _told(self, number: int) -> dict[str, Any]:
        visited = self.visited[number]
        if number not in self._judged:
            before = [] if visited.before is None else [self.visited[visited.before].state]
            claims = self.violated(*before, visited.state)
            self._judged[number] = [claim.name for claim in claims]
        return {
            "before": visited.before,
            "words": visited.words,
            "violates": self._judged[number],
        }
