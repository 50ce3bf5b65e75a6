"""What a change would have done to a trace: its steps taken on another model, one after the other.

Plain replay on the reference engine: the first step that goes otherwise, the first that cannot be
taken, and if all can, whether the end still shows what it showed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from checker.core.engines.reference import ReferenceEngine, State
from checker.core.traces.lasso import lasso_problem
from checker.core.traces.trace import Trace, TraceVerdict
from checker.telling.causes.failures import false_guards
from checker.telling.causes.reasons import ALL
from checker.telling.causes.slices import Slice
from checker.telling.report.why import CellWords, Told, Value
from model.language.declare.settings import Noted
from model.language.errors import CaptureError, DomainError
from model.language.naming import instance_words
from model.language.protocol import Instance, Model
from properties import Sense


@dataclass(frozen=True)
class Otherwise:
    """The first step that leaves what the rest needs otherwise, by its number: what, and before."""

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


def settings_read(trace: Trace) -> frozenset[str]:
    """The fields of the settings that the functions read on the way: others change nothing."""
    read: dict[str, object] = {}
    engine = ReferenceEngine(trace.model, through=lambda settings: Noted(settings, read))
    states = [_beginning(trace, engine)]
    for instance in trace.steps:
        states.append(engine.step(states[-1], instance) or states[-1])
    _shows(trace, engine, states)
    return frozenset(read)


class Effects:
    """The effects of changes on one trace.

    Steps that the end does not need are left out, and cells that nothing needs may differ: what
    becomes of either prevents nothing.
    """

    def __init__(self, trace: Trace, found: Slice | None) -> None:
        self.trace, self._live = trace, found.live if found is not None else ()
        self._here = _needed_states(trace, found)

    @cached_property
    def _words(self) -> CellWords:
        return CellWords(self.trace.model)

    def of(self, model: Model, why: bool = True) -> Effect:
        """What becomes of the trace on another model, with the same state and the same bounds.

        Without `why`, what differs and the conjuncts that are false are not told.
        """
        trace, engine = self.trace, ReferenceEngine(model)
        states, otherwise = [_beginning(trace, engine)], None
        for number, instance in enumerate(_steps_there(trace, model), 1):
            if number not in self._here:
                continue
            if instance is None:
                words = f"{model.protocol.name} has no such step"
                return Effect(otherwise, Impossible(number, words), False)
            try:
                after = engine.step(states[-1], instance)
            except DomainError as error:
                return Effect(otherwise, Impossible(number, str(error)), False)
            if after is None:
                place = engine.false_requirement(states[-1], instance)
                told, off = self._false(model, states[-1], instance) if why else ((), False)
                return Effect(otherwise, Impossible(number, "", place, told, off), False)
            otherwise = otherwise or (self._otherwise(number, after) if why else None)
            states.append(after)
        return Effect(otherwise, None, not _shows(trace, engine, states))

    def _otherwise(self, number: int, there: State) -> Otherwise | None:
        """How a state differs from that of the trace, in what the rest needs; none if it is not."""
        here, live = self._here[number], self._live[number] if self._live else None
        pairs = enumerate(zip(there, here, strict=True))
        cells = [p for p, (a, b) in pairs if (a ^ b) & (ALL if live is None else live.get(p, 0))]
        values = self._words.values
        return Otherwise(number, values(cells, there), values(cells, here)) if cells else None

    def _false(
        self, model: Model, state: State, instance: Instance
    ) -> tuple[tuple[Told, ...], bool]:
        """What of a step's guard is false, and whether it is so in every state."""
        try:
            failures = false_guards(model, instance, state)
        except CaptureError:
            return (), False
        told = tuple(self._words.told(failure, (state,)) for failure in failures)
        return told, any(not failure.reads for failure in failures)


def _beginning(trace: Trace, engine: ReferenceEngine) -> State:
    """Where the trace begins on an engine: in a reachable state, or in its own."""
    return trace.states[0] if trace.verdict == TraceVerdict.NOT_INDUCTIVE else engine.initial()


def _steps_there(trace: Trace, model: Model) -> list[Instance | None]:
    """The steps as instances of the other model; none for those that it does not have."""
    if model.protocol is trace.model.protocol:
        return list(trace.steps)
    known = {instance_words(model, instance): instance for instance in model.instances}
    return [known.get(instance_words(trace.model, step)) for step in trace.steps]


def _needed_states(trace: Trace, found: Slice | None) -> dict[int, State]:
    """The states after each step that the end needs, by its number, without the others."""
    needless = found.needless if found is not None else ()
    if not needless:
        return dict(enumerate(trace.states[1:], 1))
    engine, state, states = ReferenceEngine(trace.model), trace.states[0], {}
    for number, instance in enumerate(trace.steps, 1):
        if number not in needless:
            after = engine.step(state, instance)
            assert after is not None, "what is left of a sliced trace is a run"
            state = states[number] = after
    return states


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
