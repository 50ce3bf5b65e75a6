"""What a change would have done to a trace: its steps taken on another model, one after the other.

Plain replay on the reference engine: the first step that goes otherwise, the first that cannot be
taken, and if all can, whether the end still shows what it showed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from checker.causes.failures import false_guards
from checker.engines.reference import ReferenceEngine, State
from checker.report.why import CellWords, Told, Value
from checker.traces.lasso import lasso_problem
from checker.traces.trace import Trace, TraceVerdict
from model.language.errors import CaptureError, DomainError
from model.language.naming import instance_words
from model.language.protocol import Instance, Model
from properties import Sense


@dataclass(frozen=True)
class Otherwise:
    """The first step that leads elsewhere, by its number: what it leaves, and left in the trace."""

    step: int
    values: tuple[Value, ...]
    instead_of: tuple[Value, ...]


@dataclass(frozen=True)
class Impossible:
    """The first step that cannot be taken, by its number, and why.

    `place` is file and line of the requirement that is false, empty if there is no such step at all
    or its values do not fit, as `words` then says. `false` are the conjuncts that are false;
    `switched_off`: they are so in every state.
    """

    step: int
    words: str = ""
    place: tuple[str, int] | None = None
    false: tuple[Told, ...] = ()
    switched_off: bool = False


@dataclass(frozen=True)
class Effect:
    """What a change does to a trace. With neither step, the run is the same.

    `holds`: all steps can be taken, and the end does not show any more what it showed.
    """

    otherwise: Otherwise | None
    impossible: Impossible | None
    holds: bool

    @property
    def prevents(self) -> bool:
        """The trace is none with the change."""
        return self.impossible is not None or self.holds

    @property
    def step(self) -> int | None:
        """The number of the first step that the change has an effect on."""
        known = [each.step for each in (self.otherwise, self.impossible) if each is not None]
        return min(known, default=None)


class _Noted:
    """Settings that note which of their fields are read."""

    def __init__(self, settings: Any) -> None:
        self._settings, self.read = settings, set[str]()

    def __getattr__(self, name: str) -> Any:
        self.read.add(name)
        return getattr(self._settings, name)


def settings_read(trace: Trace) -> frozenset[str]:
    """The fields of the settings that the functions read on the way: others change nothing."""
    noted = _Noted(trace.model.settings)
    engine = ReferenceEngine(replace(trace.model, settings=noted))
    states = [engine.initial() if trace.verdict != TraceVerdict.NOT_INDUCTIVE else trace.states[0]]
    for instance in trace.steps:
        states.append(engine.step(states[-1], instance) or states[-1])
    _shows(trace, engine, states)
    return frozenset(noted.read)


def effect_of(trace: Trace, model: Model, words: CellWords, why: bool = True) -> Effect:
    """What becomes of a trace on another model, with the same state and the same bounds.

    `words` are those of either model. Without `why`, the conjuncts that are false are not told.
    """
    engine = ReferenceEngine(model)
    steps = _steps_there(trace, model)
    states = [engine.initial() if trace.verdict != TraceVerdict.NOT_INDUCTIVE else trace.states[0]]
    otherwise = None
    for number, instance in enumerate(steps, 1):
        if instance is None:
            words = f"{model.protocol.name} has no such step"
            return Effect(otherwise, Impossible(number, words), False)
        try:
            after = engine.step(states[-1], instance)
        except DomainError as error:
            return Effect(otherwise, Impossible(number, str(error)), False)
        if after is None:
            place = engine.false_requirement(states[-1], instance)
            told, off = _false(model, states[-1], instance, words) if why else ((), False)
            return Effect(otherwise, Impossible(number, "", place, told, off), False)
        if otherwise is None and after != trace.states[number]:
            otherwise = _otherwise(words, number, after, trace.states[number])
        states.append(after)
    return Effect(otherwise, None, not _shows(trace, engine, states))


def _steps_there(trace: Trace, model: Model) -> list[Instance | None]:
    """The steps as instances of the other model; none for those that it does not have."""
    if model.protocol is trace.model.protocol:
        return list(trace.steps)
    known = {instance_words(model, instance): instance for instance in model.instances}
    return [known.get(instance_words(trace.model, step)) for step in trace.steps]


def _false(
    model: Model, state: State, instance: Instance, words: CellWords
) -> tuple[tuple[Told, ...], bool]:
    """What of a step's guard is false, and whether it is so in every state."""
    try:
        failures = false_guards(model, instance, state)
    except CaptureError:
        return (), False
    told = tuple(words.told(failure, (state,)) for failure in failures)
    return told, any(not failure.reads for failure in failures)


def _otherwise(words: CellWords, number: int, there: State, here: State) -> Otherwise:
    cells = [place for place, (a, b) in enumerate(zip(there, here, strict=True)) if a != b]
    return Otherwise(number, words.values(cells, there), words.values(cells, here))


def _shows(trace: Trace, engine: ReferenceEngine, states: list[State]) -> bool:
    """The states show on the other model what the trace shows."""
    if trace.rounds is not None:
        steps = [step for step in _steps_there(trace, engine.model) if step is not None]
        return not lasso_problem(engine, states, steps, trace.rounds)
    if trace.verdict == TraceVerdict.DEADLOCK:
        return next(engine.successors(states[-1]), None) is None
    claim = trace.claim
    if claim is None:
        return True
    return engine.holds(claim.claim, *states[-claim.frames :]) is (claim.sense is Sense.SOMETIMES)
