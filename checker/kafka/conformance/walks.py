"""Random walks of the model, with the states that Kafka has to show; the seed fixes them.

They are drawn as `simulate` draws: each walk has its own weights, so that rare actions are common
in some walk; a protocol may say which are rarer in all. Where Kafka passes over a state, the walk
goes on as Kafka does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from checker.core.engines.layout import Layout, Words
from checker.core.engines.reference import ReferenceEngine
from checker.core.engines.vectorised import Claims, Successors, VectorisedEngine
from checker.core.search.simulate import ActionDraw
from checker.kafka.conformance.compared import compared_with
from checker.kafka.conformance.projection import Projection
from checker.kafka.conformance.rows import Numbers
from model.language import Model
from model.language.protocol import Instance

BATCH = 128


@dataclass(frozen=True)
class Walk:
    """Steps, and what is compared before the first and after each: an array (steps + 1, cells).

    `between[i]`: state i is one that Kafka passes over.
    """

    model: Model
    steps: tuple[Instance, ...]
    expected: Numbers
    between: npt.NDArray[np.bool_]


class Walker:
    """Walks of one model."""

    def __init__(self, model: Model, version: str, seed: int) -> None:
        self.projection = Projection(model, version)
        self.model = model
        self._engine = VectorisedEngine(model)
        self._draw = ActionDraw(self._engine)
        how_often = compared_with(model).how_often
        self._often = np.array([[how_often.get(name, 1.0)] for name in self._draw.names])
        self._random = np.random.default_rng(seed)
        self._at_once = is_at_once(model)
        self._passed_over = PassedOver(model)

    def walks(self, count: int, steps: int) -> Iterator[Walk]:
        """`count` walks of at most `steps` steps."""
        for done in range(0, count, BATCH):
            yield from self._batch(min(BATCH, count - done), steps)

    def _batch(self, count: int, steps: int) -> Iterator[Walk]:
        engine = self._engine
        words = np.repeat(engine.layout.pack([self.model.initial_state]), count, axis=1)
        weights = self._draw.weights(self._random, count) * self._often
        taken = np.full((steps, count), -1, np.int64)
        states, between = [self._seen(words)], [self._passed_over(words)]
        for step in range(steps):
            ways = self._ways(words, between[-1])
            places = self._draw.choose(ways, weights, self._random.random((2, count)))
            moved = np.flatnonzero(places >= 0)
            taken[step, moved] = ways.instances[places[moved]]
            words = words.copy()
            words[:, moved] = ways.words[:, places[moved]]
            states.append(self._seen(words))
            between.append(self._passed_over(words))
        numbers, passed = np.stack(states), np.stack(between)
        for walk in range(count):
            run = [self.model.instances[number] for number in taken[:, walk] if number >= 0]
            while run and passed[len(run), walk]:
                run.pop()
            kept = slice(0, len(run) + 1)
            yield Walk(self.model, tuple(run), numbers[kept, walk], passed[kept, walk])

    def _ways(self, words: Words, between: npt.NDArray[np.bool_]) -> Successors:
        """The steps that Kafka can take: where it passes over a state, the one that it does."""
        steps = self._engine.expand(words)
        kept = self._at_once[steps.instances] | ~between[steps.rows]
        return Successors(steps.rows[kept], steps.instances[kept], steps.words[:, kept])

    def _seen(self, words: Words) -> Numbers:
        return self.projection.of_packed(words)


class PassedOver:
    """Tells the states that Kafka passes over, in the step that makes it possible."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._is_one = compared_with(model).passed_over
        self._claims = Claims([model.ground_claim(self._is_one)], Layout(model))

    def __call__(self, words: Words) -> npt.NDArray[np.bool_]:
        """For each packed state, whether it is one."""
        (passed,) = self._claims(words)
        return passed

    def of_states(self, states: Sequence[Sequence[int]]) -> npt.NDArray[np.bool_]:
        """The same of states given as numbers, one a cell of the model."""
        reference = ReferenceEngine(self._model)
        return np.array([reference.holds(self._is_one, tuple(state)) for state in states])


def is_at_once(model: Model) -> npt.NDArray[np.bool_]:
    """For each action instance, whether it is what Kafka does where it passes over a state."""
    names = compared_with(model).at_once
    return np.array([instance.action.name in names for instance in model.instances])
