"""Minimising: a run that violates a property, made as short as one can get it.

First steps are dropped: what remains is replayed, leaving out what is no longer enabled. Then the
run is closed anew by search, breadth first: from each of its states with all steps, and from the
initial state with the steps of the run, these and all of one action, those of the members that the
run needs, and all.
Searches are bounded, so the result is the shortest run only where the last one was not cut off.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from checker.core.engines.agreement import require_agreement
from checker.core.engines.layout import Words
from checker.core.engines.vectorised import VectorisedEngine
from checker.core.search.explore import Explorer, Options
from checker.core.search.limits import Limits
from model.language.naming import members_named
from model.language.protocol import Instance, Model
from properties import Property

Steps = tuple[Instance, ...]

SEARCH_STATES = 400_000
SMALL_SEARCH_STATES = 50_000
_PAIRS_UP_TO = 64  # steps; beyond, pairs of steps to drop are too many


@dataclass(frozen=True)
class Minimised:
    """The run that is left, and whether no shorter one from the initial state exists."""

    steps: Steps
    is_shortest: bool


def minimise(
    model: Model,
    steps: Steps,
    prop: Property,
    engine: VectorisedEngine | None = None,
    search_states: int = SEARCH_STATES,
    *,
    cross_check: bool = True,
    thorough: bool = True,
) -> Minimised:
    """A run to a violation of `prop` from the initial state, no longer than the run `steps`.

    If it need not be `thorough`, it takes no step but those of `steps`.
    """
    if not steps:
        return Minimised(steps, True)
    if cross_check and (engine is None or engine.is_of_model):
        require_agreement(model, [prop], engine)
    work = _Minimiser(model, prop, engine or VectorisedEngine(model), search_states)
    if not thorough:
        return Minimised(work.search_own_steps(work.drop(steps)), False)
    while True:
        before = len(steps)
        steps = work.search_own_steps(work.drop(steps))
        steps = work.search_tails(work.search_with_each_action(steps))
        if len(steps) == before:
            break
    return work.search_from_start(steps)


class _Minimiser:
    """The ways to shorten a run; each gives a run that still violates and is no longer."""

    def __init__(
        self, model: Model, prop: Property, engine: VectorisedEngine, search_states: int
    ) -> None:
        self.model = model
        self.prop = prop
        self.engine = engine
        self.search_states = search_states
        self._place = {number: place for place, number in enumerate(engine.instances)}
        self._claims = engine.claims([prop])

    def drop(self, steps: Steps) -> Steps:
        """Leave out steps, one or two at a time, until every one that is left is needed."""
        while True:
            shorter = self._best_without(steps)
            if len(shorter) >= len(steps):
                return steps
            steps = shorter

    def _best_without(self, steps: Steps) -> Steps:
        count = len(steps)
        keep = [~np.eye(count, dtype=np.bool_)]
        if count <= _PAIRS_UP_TO:
            first, second = np.triu_indices(count, 1)
            pairs = np.ones((len(first), count), np.bool_)
            pairs[np.arange(len(first)), first] = False
            pairs[np.arange(len(first)), second] = False
            keep.append(pairs)
        taken, ends = self._replay(steps, np.concatenate([*keep, np.ones((1, count), np.bool_)]))
        lengths = np.where(
            ends >= 0, [int(t[: e + 1].sum()) for t, e in zip(taken, ends, strict=True)], count
        )
        best = int(lengths.argmin())
        if ends[best] < 0:
            return steps
        return tuple(s for s, t in zip(steps[: ends[best] + 1], taken[best], strict=False) if t)

    def _replay(
        self, steps: Steps, keep: npt.NDArray[np.bool_]
    ) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.int64]]:
        """Replay selections of `steps`, one a row of `keep`, passing over what is not enabled.

        Gives which steps each selection took, and the number of the step that violated the
        property first, -1 if none did.
        """
        words = np.repeat(self._packed(self.model.initial_state), len(keep), axis=1)
        taken = np.zeros_like(keep)
        ends = np.full(len(keep), -1, np.int64)
        for number, step in enumerate(steps):
            enabled = self.engine.enabled(words)[step.number] & keep[:, number] & (ends < 0)
            after = self.engine.follow(words, np.where(enabled, self._place[step.number], -1))
            taken[:, number] = enabled
            ends[enabled & ~self._holds(words, after)] = number
            words = after
        return taken, ends

    def _holds(self, before: Words, after: Words) -> npt.NDArray[np.bool_]:
        (holds,) = self._claims(before, after) if self.prop.of_steps else self._claims(after)
        return holds

    def _packed(self, state: tuple[int, ...]) -> Words:
        return self.engine.layout.pack([state])

    def search_own_steps(self, steps: Steps) -> Steps:
        """The shortest run that takes only steps that `steps` takes, in any order, any number."""
        return self._search(steps, {step.number for step in steps}, self.search_states)[0]

    def search_with_each_action(self, steps: Steps) -> Steps:
        """As `search_own_steps`, with all steps of one more action; each action in turn."""
        for action in self.model.protocol.actions:
            more = {i.number for i in self.model.instances if i.action is action}
            own = {step.number for step in steps}
            steps, _ = self._search(steps, own | more, SMALL_SEARCH_STATES)
        return steps

    def search_tails(self, steps: Steps) -> Steps:
        """A shorter way to a violation from some state of the run, looked for from its end."""
        states = self._states(steps)
        for place in range(len(steps) - 2, 0, -1):
            left = len(steps) - place
            limits = Limits(depth=left - 1, states=SMALL_SEARCH_STATES)
            tail = self._explore(limits, self.engine, states[place])[0]
            if tail is not None and len(tail) < left:
                return steps[:place] + tail
        return steps

    def search_from_start(self, steps: Steps) -> Minimised:
        """Search with the steps of the members that the run needs, then with all steps."""
        wanted = self._members(steps)
        near = {i.number for i in self.model.instances if self._members((i,)) <= wanted}
        steps, _ = self._search(steps, near, self.search_states)
        steps, complete = self._search(steps, set(self.engine.instances), self.search_states)
        return Minimised(steps, complete)

    def _search(self, steps: Steps, numbers: set[int], states: int) -> tuple[Steps, bool]:
        """The shortest run with the given instances; whether all shorter ones were tried."""
        limits = Limits(depth=len(steps) - 1, states=states)
        found, complete = self._explore(limits, self._engine_of(numbers), None)
        return (steps, complete) if found is None else (found, complete)

    def _engine_of(self, numbers: set[int]) -> VectorisedEngine:
        chosen = [action for action in self.engine.actions if action.instance.number in numbers]
        return VectorisedEngine(self.model, chosen)

    def _explore(
        self, limits: Limits, engine: VectorisedEngine, start: tuple[int, ...] | None
    ) -> tuple[Steps | None, bool]:
        options = Options(cross_check=False)
        explorer = Explorer(self.model, [self.prop], limits, options, engine=engine, start=start)
        result = explorer.run()
        complete = bool(result.violations) or not result.stopped
        return (result.violations[0].steps if result.violations else None), complete

    def _states(self, steps: Steps) -> list[tuple[int, ...]]:
        words = self._packed(self.model.initial_state)
        found = [words]
        for step in steps:
            words = self.engine.follow(words, np.array([self._place[step.number]]))
            found.append(words)
        return self.engine.layout.unpack(np.concatenate(found, axis=1))

    def _members(self, steps: Steps) -> set[tuple[str, int]]:
        """The members of families, not rows of tables, that the steps' parameters name."""
        return {m for step in steps for m in members_named(self.model, step).values()}
