"""A run that Kafka's classes take otherwise, made short: what is left of it is what it needs.

A walk that ends in a disagreement has dozens of steps, most of them beside the point. Each is left
out in turn, from the last to the first, and stays out if the model still takes the rest and Kafka
still departs from it in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence

from checker.core.engines.reference import ReferenceEngine
from checker.kafka.conformance.compare import Run, Tally, compare
from checker.kafka.conformance.process import Runs
from checker.kafka.conformance.projection import Projection
from checker.kafka.conformance.walks import PassedOver, Walk, is_at_once
from model.language import Model
from model.language.errors import DomainError
from model.language.protocol import Instance


def walk_of(model: Model, projection: Projection, steps: Sequence[Instance]) -> Walk | None:
    """The steps with the states that the model expects; `None`: it does not take them all.

    Nor does it where Kafka passes over a state, and the next step is another than Kafka's.
    """
    engine = ReferenceEngine(model)
    states = [engine.initial()]
    for step in steps:
        try:
            after = engine.step(states[-1], model.instances[step.number])
        except DomainError:
            return None
        if after is None:
            return None
        states.append(after)
    between = PassedOver(model).of_states(states)
    at_once = is_at_once(model)
    if any(passed and not at_once[s.number] for passed, s in zip(between, steps, strict=False)):
        return None
    return Walk(model, tuple(steps), projection.of_states(states), between)


def shorten_new(harness: Runs, model: Model, projection: Projection, into: Tally) -> None:
    """Shorten a run of each kind that no row allows and that has none yet; they are of `model`."""
    for kind in into.unknown:
        if kind not in into.shortened:
            into.shortened[kind] = shorten(harness, model, projection, into.shortest(kind))


def shorten(harness: Runs, model: Model, projection: Projection, run: Run) -> Run:
    """A run with the same kind of disagreement, of which no step can be left out."""
    before = 0
    while len(run[1]) != before:
        before = len(run[1])
        for place in reversed(range(before - 1)):
            if place < len(run[1]) - 1:
                run = _without(harness, model, projection, run, place) or run
    return run


def _without(
    harness: Runs, model: Model, projection: Projection, run: Run, place: int
) -> Run | None:
    """The run without one step, if Kafka still departs from the model in the same way."""
    difference, steps = run
    walk = walk_of(model, projection, (*steps[:place], *steps[place + 1 :]))
    if walk is None:
        return None
    answer = harness.run(model, projection, walk.steps)
    found = compare(projection, walk.steps, walk.expected, answer, walk.between).difference
    if found is None or found.kind != difference.kind:
        return None
    return found, walk.steps[: found.step]
