"""The net under every answer: the captured graph held against the functions that it was made from.

If capture misreads a function, every engine that runs on the graph is wrong in the same way. So at
the start of each search, proof and simulation both are run on the same states: the functions
themselves on the reference engine, and the graph. A difference is an error, never an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from checker.core.engines.difference import Differences
from checker.core.engines.layout import Layout, Words
from checker.core.engines.reference import ReferenceEngine, State
from checker.core.engines.sample import MISFIT, NOT_ENABLED, Outcome, Sample, outcome_of, raised
from checker.core.engines.vectorised import Claims, Successors, VectorisedEngine
from checker.core.verdict import Agreement
from model.language.errors import DisagreementError, DomainError, LimitError
from model.language.graph import Node
from model.language.ground import GroundAction
from model.language.protocol import Model
from properties import Property

JUDGEMENTS = 200
"""Evaluations of all claims together; but each is judged in `STATES_A_CLAIM` states at least."""

STATES_A_CLAIM = 16
DRAWN, ANY, FALSE = 500, 24, 8
"""States drawn beside those; in how many of them each claim is judged, and in how many more because
the graph says that it is false there."""

ENABLED = 16
"""States at most in which an instance is tried because the graph says that it is enabled."""


def require_agreement(
    model: Model, properties: Iterable[Property] = (), engine: VectorisedEngine | None = None
) -> Agreement:
    """Compare the captured graph with the reference engine; `DisagreementError` if they differ.

    `engine` runs the graph; it is made if need be. What was compared before is not compared again,
    as long as the model's expressions are the same.
    """
    known = _known.get(model)
    if known is None:
        known = _known[model] = _Known(Sample(model))
    comparison = _Comparison(model, known, engine)
    comparison.start()
    comparison.steps()
    count = comparison.claims(properties)
    sample = known.sample
    taken = sum(len(steps) for steps in sample.taken)
    return Agreement(len(sample.states), len(sample.outcomes), taken, count)


class FirstSteps:
    """The first step of each instance that a search takes, held against the function.

    A sample may miss what is rarely enabled; no step of a search can.
    """

    def __init__(self, engine: VectorisedEngine) -> None:
        self._layout = engine.layout
        self._reference = ReferenceEngine(engine.model)
        self._words = Differences(engine.model, engine.model.initial_state)

    def check(self, words: Words, steps: Successors, instances: Iterable[int]) -> None:
        """Replay the first step of each of the instances, by number; `DisagreementError`."""
        for number in instances:
            place = int((steps.instances == number).argmax())
            (before,) = self._layout.unpack(words[:, [steps.rows[place]]])
            (found,) = self._layout.unpack(steps.words[:, [place]])
            expected = outcome_of(self._reference, before, number)
            if expected != found:
                raise self._words.of_step(number, before, expected, found)


def require_same_steps(
    engine: VectorisedEngine, words: Words, expand: Callable[[Words], Successors]
) -> None:
    """`expand` gives just the steps of `engine`, in their order; else `DisagreementError`."""
    both = [engine.expand(words), expand(words)]
    if all(
        np.array_equal(getattr(both[0], part), getattr(both[1], part))
        for part in ("rows", "instances", "words")
    ):
        return
    expected, found = (_by_step(engine, steps) for steps in both)
    states = engine.layout.unpack(words)
    telling = Differences(
        engine.model, engine.model.initial_state, "by the programs", "by machine code"
    )
    for row, number in sorted(expected.keys() | found.keys()):
        one, other = (side.get((row, number), NOT_ENABLED) for side in (expected, found))
        if one != other:
            raise telling.of_step(number, states[row], one, other)
    raise DisagreementError("machine code gives steps in another order, or more than once")


def _by_step(engine: VectorisedEngine, steps: Successors) -> dict[tuple[int, int], Outcome]:
    keys = zip(steps.rows.tolist(), steps.instances.tolist(), strict=True)
    return dict(zip(keys, engine.layout.unpack(steps.words), strict=True))


@dataclass
class _Known:
    """A model's sample, and the expressions that were found to agree with it."""

    sample: Sample
    agreeing: set[Any] = field(default_factory=set)


_known: WeakKeyDictionary[Model, _Known] = WeakKeyDictionary()


class _Claim(NamedTuple):
    """A claim or premise: how it is called, its function, of how many states, its expression."""

    what: str
    function: Callable[..., bool]
    frames: int
    captured: Node


class _Comparison:
    """The comparison of one model, part by part. Each part raises `DisagreementError`."""

    def __init__(self, model: Model, known: _Known, engine: VectorisedEngine | None) -> None:
        self._model = model
        self._sample = known.sample
        self._agreeing = known.agreeing
        self._engine = engine
        self._words = Differences(model, known.sample.initial)

    def start(self) -> None:
        """The initial state."""
        expected, found = self._sample.initial, self._model.initial_state
        if expected != found:
            raise self._words.of_start(expected, found)

    def steps(self) -> None:
        """Guards, successors and misfits, for all tries of the sample."""
        given = self._engine
        actions = self._model.ground_actions if given is None else given.actions
        by_number = {action.instance.number: action for action in actions}
        forms = {i.number: _form(i.number, by_number) for i in self._model.instances}
        new = {number for number, form in forms.items() if form not in self._agreeing}
        if not new:
            return
        engine = self._engine or VectorisedEngine(self._model)
        self._require_room(engine)
        enabled = engine.enabled(engine.layout.pack(self._sample.states))
        self._sample.also(
            self._model,
            [(row, n) for n in enabled for row in np.flatnonzero(enabled[n])[:ENABLED].tolist()],
        )
        tries = [key for key in self._sample.outcomes if key[1] in new]
        for (row, number), found in zip(
            tries, _outcomes(engine, self._sample.states, tries), strict=True
        ):
            expected = self._sample.outcomes[row, number]
            if expected != found:
                before = self._sample.states[row]
                raise self._words.of_step(number, before, expected, found)
        self._agreeing.update(forms[number] for number in new)

    def _require_room(self, engine: VectorisedEngine) -> None:
        """All states fit the packed form: what no captured action changes has no room there."""
        states = self._sample.states
        for row, steps in enumerate(self._sample.taken):
            if steps and not engine.layout.fits(states[row]):
                continue
            for number, after in steps.items():
                if not engine.layout.fits(after):
                    (found,) = _outcomes(engine, [states[row]], [(0, number)])
                    raise self._words.of_step(number, states[row], after, found)

    def claims(self, properties: Iterable[Property]) -> int:
        """Claims and premises, of states and of steps; how many there are."""
        claims = [
            _Claim(what, function, frames, self._model.claim(function, frames))
            for what, function, frames in _claims_of(properties)
        ]
        new = [claim for claim in claims if claim not in self._agreeing]
        for frames in (1, 2):
            self._judge([claim for claim in new if claim.frames == frames], frames, len(claims))
        self._agreeing.update(new)
        return len(claims)

    def _judge(self, claims: list[_Claim], frames: int, count: int) -> None:
        places = self._places(frames, count) if claims else []
        if not places:
            return
        layout, reference = Layout(self._model), ReferenceEngine(self._model)
        wanted = len(places)
        places += self._sample.drawn(DRAWN, frames)
        words = [layout.pack(states) for states in zip(*places, strict=True)]
        program = Claims(
            [self._model.ground_claim(claim.function, frames) for claim in claims], layout
        )
        masks = np.array(program(*words)).reshape(len(claims), len(places))
        for claim, mask in zip(claims, masks, strict=True):
            false = wanted + ANY + np.flatnonzero(~mask[wanted + ANY :])[:FALSE]
            for row in (*range(wanted + ANY), *false.tolist()):
                expected, found = _truth(reference, claim.function, places[row]), _TRUTH[mask[row]]
                if expected != found:
                    raise self._words.of_claim(
                        claim.what, claim.function, places[row], expected, found
                    )

    def _places(self, frames: int, count: int) -> list[tuple[State, ...]]:
        """The states, or the states before and after a step, in which claims are judged."""
        sample = self._sample
        places: list[tuple[State, ...]] = [(state,) for state in sample.states]
        if frames == 2:
            places = [*sample.steps]
        wanted = min(max(JUDGEMENTS // count, STATES_A_CLAIM), len(places))
        return [places[k * len(places) // wanted] for k in range(wanted)]


_TRUTH = {True: "it is true", False: "it is false"}


def _truth(engine: ReferenceEngine, claim: Callable[..., bool], place: tuple[State, ...]) -> str:
    try:
        return _TRUTH[engine.holds(claim, *place)]
    except (LimitError, KeyboardInterrupt):  # of the command, not of the claim
        raise
    except BaseException as error:
        return raised(error)


def _claims_of(
    properties: Iterable[Property],
) -> Iterator[tuple[str, Callable[..., bool], int]]:
    for prop in properties:
        yield f"property {prop.name}", prop.claim, prop.frames
        if prop.premise is not None:
            yield f"the premise of {prop.name}", prop.premise, 1


def _form(number: int, actions: dict[int, GroundAction]) -> Any:
    """What an instance does as captured; equal expressions are one object."""
    action = actions.get(number)
    if action is None:
        return number
    return number, action.guard, tuple(action.assignments.items()), action.misfit


def _outcomes(
    engine: VectorisedEngine, states: list[State], tries: list[tuple[int, int]]
) -> Iterator[Outcome]:
    """What each try of an instance, in the state of a row, comes to on the graph."""
    words = engine.layout.pack(states)
    enabled = engine.enabled(words)
    rows: dict[int, list[int]] = {}
    for row, number in tries:
        if number in enabled and enabled[number][row]:
            rows.setdefault(number, []).append(row)
    after = {
        number: dict(zip(chosen, _followed(engine, words[:, chosen], number), strict=True))
        for number, chosen in rows.items()
    }
    return (after.get(number, {}).get(row, NOT_ENABLED) for row, number in tries)


def _followed(engine: VectorisedEngine, words: Words, number: int) -> list[Outcome]:
    """The states after an instance that all of these enable, or that a value does not fit."""
    count = words.shape[1]
    try:
        after = engine.follow(words, np.full(count, engine.instances.index(number)))
    except DomainError:
        if count == 1:
            return [MISFIT]
        singles = [words[:, [k]] for k in range(count)]
        return [one for single in singles for one in _followed(engine, single, number)]
    return list(engine.layout.unpack(after))
