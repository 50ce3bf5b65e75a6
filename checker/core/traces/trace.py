"""Traces: runs of a protocol that show something, and the check that they do.

A trace is believed only after the reference engine has replayed it, wherever it came from.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import cast

from checker.core.digest import protocol_digest
from checker.core.engines.reference import ReferenceEngine, State
from checker.core.traces.lasso import Rounds, lasso_problem
from checker.distribution import highwater_version
from model.language.errors import DomainError, RejectedError
from model.language.naming import cell_path, instance_words, value_words
from model.language.protocol import Instance, Model
from properties import Property, Sense, choose_properties, lemmas_of, properties_of


class TraceVerdict(StrEnum):
    """What a trace shows by its last state, or by its last step for a property of steps."""

    VIOLATED = "violated"  # a property that should always hold is false
    REACHED = "reached"  # a property that should sometimes hold is true: a witness
    NOT_INDUCTIVE = "not_inductive"  # as violated, but the first state may be unreachable
    DEADLOCK = "deadlock"  # nothing is enabled
    UNFULFILLED = "unfulfilled"  # a fair run for ever on which what must happen does not
    RUN = "run"  # nothing more than that the protocol can do this


@dataclass(frozen=True)
class Trace:
    """A run of `model`: `states[i + 1]` is `states[i]` after `steps[i]`.

    States are as in `ReferenceEngine`, one number a cell. `property` names what the verdict is
    about, if it is about one. `version` is that of Highwater when the trace was found, `source`
    where its protocol was and `digest` what it was then; both are empty where nobody has said so.
    `own` is the property itself if the protocol does not list it. With `rounds` the run goes on for
    ever: the last state is one that it went through before.
    """

    model: Model
    property: str | None
    verdict: str
    states: tuple[State, ...]
    steps: tuple[Instance, ...]
    version: str | None = None
    source: str = ""
    digest: str = ""
    own: Property | None = None
    rounds: Rounds | None = None

    @cached_property
    def depth(self) -> int:
        """The number of steps."""
        return len(self.steps)

    @cached_property
    def claim(self) -> Property | None:
        """The property of states or steps; `UsageError` if the protocol has none of that name.

        None of a run for ever, whose property is `rounds.promise`.
        """
        if self.property is None or self.rounds is not None:
            return None
        return self.own or choose_properties(self.model.protocol, [self.property])[0]

    @cached_property
    def is_redefined(self) -> bool:
        """Whether the protocol, or the property, is no longer what it was when this was found."""
        return self.digest not in ("", protocol_digest(self.model, self.claim))

    @cached_property
    def evidence(self) -> tuple[State, ...]:
        """The states at the end that the property is judged by: one, or two if it is of steps."""
        return self.states[-self.claim.frames :] if self.claim is not None else ()

    @cached_property
    def explanation(self) -> str:
        """What the last state shows: the property's words with the values that falsify it."""
        if self.rounds is not None:
            return self.rounds.promise.words
        if self.claim is None:
            return "nothing is enabled" if self.verdict == TraceVerdict.DEADLOCK else ""
        values = None
        if self.claim.sense is Sense.ALWAYS and len(self.evidence) == self.claim.frames:
            # Views are valid only until their engine is used again.
            engine = ReferenceEngine(self.model)
            values = engine.falsifying_values(self.claim.claim, *self.evidence)
        return self.claim.words if values is None else self.claim.explain(values)


def build_trace(
    model: Model,
    instances: Iterable[Instance],
    property: Property | str | None = None,
    *,
    verdict: str | None = None,
    start: State | None = None,
    rounds: Rounds | None = None,
) -> Trace:
    """The checked trace that takes the given steps from the initial state, or from `start`.

    The verdict follows from the property's sense unless given. Raises `RejectedError` if a step is
    not enabled or the end does not show what the verdict says.
    """
    engine, steps = ReferenceEngine(model), tuple(instances)
    states = [engine.initial() if start is None else start]
    for number, instance in enumerate(steps, 1):
        states.append(_take_step(engine, number, states[-1], instance))
    own = property if isinstance(property, Property) else None
    name = own.name if own is not None else cast("str | None", property)
    if own in (*properties_of(model.protocol), *lemmas_of(model.protocol)):
        own = None
    trace = Trace(
        model,
        name,
        verdict or "",
        tuple(states),
        steps,
        highwater_version(),
        own=own,
        rounds=rounds,
    )
    if verdict is None:
        elsewhere = start is not None and start != engine.initial()
        trace = replace(trace, verdict=_verdict_of(trace.claim, elsewhere))
    check_trace(trace)
    return trace


def _verdict_of(claim: Property | None, elsewhere: bool) -> TraceVerdict:
    if elsewhere:
        return TraceVerdict.NOT_INDUCTIVE
    if claim is None:
        return TraceVerdict.RUN
    return TraceVerdict.VIOLATED if claim.sense is Sense.ALWAYS else TraceVerdict.REACHED


def check_trace(trace: Trace) -> None:
    """Replay the trace on the reference engine; `RejectedError`, in one line, if it does not hold.

    The error names the step and what is wrong with it: the first variable that differs, with the
    expected value and the one found, or an action that is not enabled.
    """
    if len(trace.states) != len(trace.steps) + 1:
        raise RejectedError(
            f"a trace of {len(trace.steps)} steps must have {len(trace.steps) + 1} states, "
            f"not {len(trace.states)}"
        )
    engine = ReferenceEngine(trace.model)
    _check_start(trace, engine)
    for number, instance in enumerate(trace.steps, 1):
        expected = _take_step(engine, number, trace.states[number - 1], instance)
        where = f"step {number}, {instance_words(trace.model, instance)}"
        _compare(trace.model, where, expected, trace.states[number])
    _check_verdict(trace, engine)


def _check_start(trace: Trace, engine: ReferenceEngine) -> None:
    """The first state is the initial one, or for counterexamples to induction any valid one."""
    model, first = trace.model, trace.states[0]
    if trace.verdict != TraceVerdict.NOT_INDUCTIVE:
        _compare(model, "the initial state", engine.initial(), first)
        return
    if len(first) != len(model.cells):
        raise RejectedError(f"a state must have {len(model.cells)} values, not {len(first)}")
    for cell, number in zip(model.cells, first, strict=True):
        if not cell.low <= number <= cell.high:
            raise RejectedError(
                f"the first state: {cell_path(model, cell)} is out of its domain, "
                f"{cell.variable.domain}"
            )


def _take_step(engine: ReferenceEngine, number: int, state: State, instance: Instance) -> State:
    words = instance_words(engine.model, instance)
    try:
        after = engine.step(state, instance)
    except DomainError as error:
        raise RejectedError(f"step {number}: {words} breaks its model: {error}") from None
    if after is None:
        raise RejectedError(f"step {number}: {words} is not enabled in the state before it")
    return after


def _compare(model: Model, where: str, expected: State, found: State) -> None:
    if len(expected) != len(found):
        raise RejectedError(f"{where}: expected {len(expected)} values, found {len(found)}")
    for cell, right, wrong in zip(model.declared, expected, found, strict=True):
        if right != wrong:
            raise RejectedError(
                f"{where}: {cell_path(model, cell)}: expected {value_words(model, cell, right)}, "
                f"found {value_words(model, cell, wrong)}"
            )


def _check_verdict(trace: Trace, engine: ReferenceEngine) -> None:
    if trace.verdict not in list(TraceVerdict):
        valid = ", ".join(TraceVerdict)
        raise RejectedError(f"a trace cannot have the verdict {trace.verdict!r}: valid are {valid}")
    if trace.rounds is not None and trace.verdict != TraceVerdict.UNFULFILLED:
        raise RejectedError(f"the verdict {trace.verdict} is not of a run for ever")
    if problem := _problem(trace, engine):
        raise RejectedError(f"the verdict {trace.verdict} does not hold: {problem}")


def _problem(trace: Trace, engine: ReferenceEngine) -> str:
    """Why the trace does not show what its verdict says; empty if it does."""
    match TraceVerdict(trace.verdict):
        case TraceVerdict.VIOLATED:
            return _wrong_judgement(trace, engine, Sense.ALWAYS, False)
        case TraceVerdict.NOT_INDUCTIVE:
            return _wrong_induction(trace, engine)
        case TraceVerdict.REACHED:
            return _wrong_judgement(trace, engine, Sense.SOMETIMES, True)
        case TraceVerdict.DEADLOCK:
            return _wrong_deadlock(trace, engine)
        case TraceVerdict.UNFULFILLED:
            if trace.rounds is None:
                return "nothing says where the run goes round"
            return lasso_problem(engine, trace.states, trace.steps, trace.rounds)
        case TraceVerdict.RUN:
            return "" if trace.property is None else f"it names the property {trace.property}"


def _wrong_judgement(trace: Trace, engine: ReferenceEngine, sense: Sense, holds: bool) -> str:
    """Why the property, of this sense, is not seen to be `holds` at the end; empty if it is."""
    claim = trace.claim
    if claim is None:
        return "no property is named"
    if claim.sense is not sense:
        return f"{claim.name} is a property that should {claim.sense} hold"
    if len(trace.evidence) < claim.frames:
        return f"{claim.name} is about steps, and there is none"
    if engine.holds(claim.claim, *trace.evidence) is not holds:
        last = f"the last step, {trace.depth}" if claim.of_steps else "the last state"
        return f"{claim.name} is {str(not holds).lower()} in {last}"
    return ""


def _wrong_induction(trace: Trace, engine: ReferenceEngine) -> str:
    claim = trace.claim
    if claim is not None and not claim.of_steps:
        for number, state in enumerate(trace.states[:-1]):
            if not engine.holds(claim.claim, state):
                return f"{claim.name} is already false in state {number}"
    return _wrong_judgement(trace, engine, Sense.ALWAYS, False)


def _wrong_deadlock(trace: Trace, engine: ReferenceEngine) -> str:
    if trace.property is not None:
        return "a deadlock is not about a property"
    for instance, _ in engine.successors(trace.states[-1]):
        return f"{instance_words(trace.model, instance)} is enabled in the last state"
    return ""
