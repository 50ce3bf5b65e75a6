"""Simulation: seeded random walks at sizes that cannot be exhausted, many walks at once.

A batch of walks moves in step: all steps that are enabled are expanded, by machine code once that
pays, as in a search. Each walk draws its own weights for the actions, so that rare actions are
common in some walk. A step is an action, by weight among those enabled, and one of its enabled
instances, evenly. Properties are judged of the steps not taken, too. The seed fixes every choice.
What is found is sampled, never more: walks say nothing of the states that they do not see.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, dataclass, field

import numpy as np
import numpy.typing as npt

from checker.core.engines.agreement import require_agreement
from checker.core.engines.compiled import Expander
from checker.core.engines.layout import Words
from checker.core.engines.misfit import MisfitError, with_run
from checker.core.engines.vectorised import Rows, Successors, VectorisedEngine
from checker.core.native.kernel import kernel
from checker.core.search.findings import Findings
from checker.core.search.limits import INTERRUPTED, Stop, Until
from checker.core.search.question import DEFAULT_COMPILE_AFTER, Options, Question
from checker.core.search.visited_set import VisitedSet
from checker.core.search.watch import Watch
from checker.core.verdict import Enabled, Inspection, Verdict, Violation
from model.language.errors import UsageError
from model.language.protocol import Model
from properties import Property

Places = npt.NDArray[np.int64]
"""For each walk, the place of its next step among all that are enabled; -1 for none."""

BATCH = 4_096
DEFAULT_STEPS = 100
_SPREAD = 1.0  # of the logarithm of an action's weight in a walk


@dataclass(frozen=True)
class Budget:
    """When to stop: after this many walks or seconds. No walk is longer than `steps`.

    Seconds count from where the walks begin; `until` is asked as well, as often.
    """

    walks: int | None = None
    seconds: float | None = None
    steps: int = DEFAULT_STEPS
    until: Until | None = None


@dataclass
class StepCount(Enabled):
    """And how many steps of walks took it."""

    taken: int = 0


@dataclass(frozen=True)
class WalkedViolation(Violation):
    """A violation as a walk ran into it: the walk's number, and seconds since the start."""

    walk: int
    seconds: float


@dataclass
class Simulation(Inspection):
    """What the walks of one seed found."""

    seed: int
    budget: Budget
    _: KW_ONLY
    walks: int = 0
    steps: int = 0
    longest: int = 0
    distinct_states: int = 0
    actions: dict[str, StepCount] = field(default_factory=dict)
    violations: list[WalkedViolation] = field(default_factory=list)

    @property
    def coverage(self) -> Verdict:
        """`SAMPLED`, whatever was visited."""
        return Verdict.SAMPLED

    @property
    def steps_per_second(self) -> float:
        """How many steps the walks took in a second."""
        return self.steps / max(self.seconds, 1e-9)


@dataclass(frozen=True)
class WalkProgress:
    """Totals so far."""

    walks: int
    steps: int
    states: int
    seconds: float


class Simulator:
    """Random walks of one model. `run` returns what they found; `request_stop` ends them soon."""

    def __init__(
        self,
        model: Model,
        properties: Iterable[Property],
        seed: int = 0,
        budget: Budget | None = None,
        *,
        keep_going: bool = False,
        on_progress: Callable[[WalkProgress], None] | None = None,
        engine: VectorisedEngine | None = None,
        cross_check: bool = True,
        compile_after: float | None = DEFAULT_COMPILE_AFTER,
    ) -> None:
        if seed < 0:
            raise UsageError(f"seed cannot be {seed}: valid are whole numbers from 0 on")
        self.engine = engine or VectorisedEngine(model)
        self.result = Simulation(model, tuple(properties), seed, budget or Budget())
        self._cross_check = cross_check and self.engine.is_of_model
        self._question = Question(self.result.properties, options=Options(keep_going=keep_going))
        self._on_progress = on_progress or (lambda _: None)
        self._random = np.random.default_rng(seed)
        self._known = Findings.none(len(model.instances))
        self._watch = Watch(
            self.engine, self.result.properties, self._known, patience=compile_after
        )
        self._expand = Expander(self.engine, None, compile_after)
        self._visited = VisitedSet(self.engine.layout.words)
        self._initial = self.engine.layout.pack([model.initial_state])
        self._actions = ActionDraw(self.engine)
        self._enabled = np.zeros(len(model.instances), np.int64)
        self._taken = np.zeros(len(model.instances), np.int64)
        self._stop_requested = False

    def request_stop(self) -> None:
        """End the walks after their next step, keeping what is known."""
        self._stop_requested = True

    def run(self) -> Simulation:
        """Walk until a property is violated (with `keep_going`, all are) or the budget is spent."""
        result, budget = self.result, self.result.budget
        self._started = time.perf_counter()
        if self._cross_check:
            result.agreement = require_agreement(result.model, result.properties, self.engine)
        self._visited.insert(self._initial)
        self._known.add_level(1, 0.0)
        self._watch.states(self._initial, 0, lambda _: (-1, -1))
        self._note(0, np.empty(0, np.int64), np.empty((0, 0), np.int64))
        while not self._is_over():
            left = BATCH if budget.walks is None else min(BATCH, budget.walks - result.walks)
            if left <= 0:
                break
            self._batch(left)
        self._finish()
        return result

    def _is_over(self) -> bool:
        """Nothing more is to be found, or there is no time to find it."""
        if self._stop_requested:
            self.result.stopped = INTERRUPTED
        elif (limit := self.result.budget.seconds) is not None and self._elapsed() >= limit:
            self.result.stopped = f"the limit of {limit:g} seconds"
        elif self.result.budget.until is not None:
            try:
                self.result.budget.until.check()
            except Stop as stop:
                self.result.stopped = str(stop)
        return self._question.is_answered(self._known) or bool(self.result.stopped)

    def _batch(self, walks: int) -> None:
        """Walk `walks` walks from the initial state to their ends."""
        result, limit = self.result, self.result.budget.steps
        history = np.full((limit, walks), -1, np.int64)
        weights = self._actions.weights(self._random, walks)
        words = np.repeat(self._initial, walks, axis=1)
        alive = np.arange(walks)
        first = result.walks
        result.walks += walks
        for step in range(limit):
            steps = self._expanded(words, history[:step, alive])
            self._look(words, steps, step + 1)
            self._note(first, alive, history[:step])
            draws = self._random.random((2, words.shape[1]))
            places = self._actions.choose(steps, weights[:, alive], draws)
            moving = places >= 0
            alive, places = alive[moving], places[moving]
            if not len(alive) or self._is_over():
                break
            history[step, alive] = steps.instances[places]
            words = self._move(steps, places, step + 1)
            self._report()

    def _expanded(self, words: Words, history: npt.NDArray[np.int64]) -> Successors:
        try:
            return self._expand(words)
        except MisfitError as error:
            same = (words == self.engine.layout.pack([error.state])).all(axis=0)
            before = [self.result.model.instances[k] for k in history[:, same.argmax()]]
            raise with_run(self.result.model, error, tuple(before)) from error

    def _look(self, words: Words, steps: Successors, step: int) -> None:
        """Look at all steps that might be taken, and what they lead to."""
        self._enabled += np.bincount(steps.instances, minlength=len(self._enabled))
        # A walk is told by its row, where a search has the number of a state.
        self._watch.steps(words, steps, step, lambda row: row)
        self._watch.states(
            steps.words, step, lambda at: (int(steps.rows[at]), int(steps.instances[at]))
        )

    def _move(self, steps: Successors, places: Places, step: int) -> Words:
        """Take the chosen steps."""
        after = steps.words.take(places, axis=1)
        self._taken += np.bincount(steps.instances[places], minlength=len(self._taken))
        self.result.steps += len(places)
        self.result.longest = max(self.result.longest, step)
        self._visited.insert(after)
        return after

    def _note(
        self, first: int, alive: npt.NDArray[np.int64], history: npt.NDArray[np.int64]
    ) -> None:
        """Keep the walks that have just come to where a property is violated in one more step."""
        result = self.result
        by_name = {prop.name: prop for prop in result.properties}
        for name, (depth, row, last) in self._known.violated.items():
            if name not in result.violated:
                walk = int(alive[row]) if depth else 0
                numbers = [*history[:, walk].tolist(), last] if depth else []
                steps = tuple(result.model.instances[number] for number in numbers)
                result.violations.append(
                    WalkedViolation(by_name[name], depth, steps, first + walk, self._elapsed())
                )

    def _elapsed(self) -> float:
        return time.perf_counter() - self._started

    def _report(self) -> None:
        result = self.result
        self._on_progress(
            WalkProgress(result.walks, result.steps, self._visited.count, self._elapsed())
        )

    def _finish(self) -> None:
        result = self.result
        for action in result.model.protocol.actions:
            result.actions[action.name] = StepCount()
        for instance in result.model.instances:
            count = result.actions[instance.action.name]
            count.enabled += int(self._enabled[instance.number])
            count.taken += int(self._taken[instance.number])
        result.distinct_states = self._visited.count
        result.reached, result.premises = self._known.reached, self._known.premises
        result.seconds = self._elapsed()


class ActionDraw:
    """Which of an engine's instances belong to the same action, and the draw among their steps."""

    def __init__(self, engine: VectorisedEngine) -> None:
        names = [engine.model.instances[number].action.name for number in engine.instances]
        self.names = tuple(dict.fromkeys(names))
        number_of = {name: number for number, name in enumerate(self.names)}
        self._action = np.zeros(len(engine.model.instances), np.int64)
        self._action[engine.instances] = [number_of[name] for name in names]

    def weights(self, random: np.random.Generator, walks: int) -> npt.NDArray[np.float64]:
        """How likely each action is in each walk: an array (actions, walks)."""
        return np.exp(random.normal(0.0, _SPREAD, (len(self.names), walks)))

    def choose(
        self,
        steps: Successors,
        weights: npt.NDArray[np.float64],
        draws: npt.NDArray[np.float64],
    ) -> Places:
        """For each walk the place of one of the steps from its state, -1 if there is none.

        `weights` is (actions, walks), `draws` (2, walks) from [0, 1).
        """
        chosen = np.full(draws.shape[1], -1, np.int64)
        _choose(steps.rows, self._action[steps.instances], weights, draws, chosen)
        return chosen


@kernel
def _choose(
    rows: Rows,
    actions: Places,
    weights: npt.NDArray[np.float64],
    draws: npt.NDArray[np.float64],
    chosen: Places,
) -> None:
    """By weight among the actions that have a step, then evenly among their steps.

    Steps are in the order of rows, and those of a row in the order of actions.
    """
    first = 0
    while first < len(rows):
        walk = rows[first]
        end = first
        total = 0.0
        while end < len(rows) and rows[end] == walk:
            if end == first or actions[end] != actions[end - 1]:
                total += weights[actions[end], walk]
            end += 1
        left = draws[0, walk] * total
        at = first
        while True:
            left -= weights[actions[at], walk]
            after = at + 1
            while after < end and actions[after] == actions[at]:
                after += 1
            if left < 0.0 or after == end:
                break
            at = after
        chosen[walk] = at + int(draws[1, walk] * (after - at))
        first = end
