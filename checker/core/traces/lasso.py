"""Runs without end: a trace whose last state is one that it went through before, round and round.

Whatever engine found one, it is believed only after the reference engine has gone round twice, and
every fairness that the run should obey was seen to be met on the circle.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from checker.core.engines.reference import ReferenceEngine, State
from model.language.errors import DomainError
from model.language.fair_groups import Group, groups_of
from model.language.fairness import Fairness, Strength
from model.language.protocol import Instance, Model
from properties.liveness import Case, Kind, Liveness


@dataclass(frozen=True)
class Rounds:
    """That a run goes round for ever, from the state at `start`, and what it so breaks.

    Where `start` is the last state, the run stops there. `member` names whose promise is broken, if
    the property is one of members. `fairness` is what the run obeys all the same.
    """

    start: int
    promise: Liveness
    fairness: tuple[Fairness, ...]
    member: str = ""


@dataclass(frozen=True)
class Met:
    """A fairness group, and how the circle meets it: empty if it does not.

    `matters` is false of a group that no state of the circle enables.
    """

    group: Group
    how: str
    matters: bool


def case_of(model: Model, rounds: Rounds) -> Case | None:
    """The property of the member that it is broken for; none if there is no such member."""
    cases = rounds.promise.cases(model)
    return next((case for case in cases if case.member == rounds.member), None)


def lasso_problem(
    engine: ReferenceEngine, states: Sequence[State], steps: Sequence[Instance], rounds: Rounds
) -> str:
    """Why these states and steps are no fair run that breaks the property; empty if they are."""
    start, last = rounds.start, len(steps)
    if not 0 <= start <= last:
        return f"the loop starts at state {start}, and there are states 0 to {last}"
    if states[start] != states[last]:
        return f"state {last}, the last, is not state {start}, where the loop starts"
    state = states[last]
    for number in range(start, last):  # the second time round
        after = _step(engine, state, steps[number])
        if after != states[number + 1]:
            return f"step {number + 1} does not do the same the second time round"
        state = after
    if problem := _kept(engine, states, rounds):
        return problem
    for met in how_met(engine, states, steps, rounds):
        if not met.how:
            return f"the loop is unfair to {met.group.words}, which is {met.group.strength}ly fair"
    return ""


def _kept(engine: ReferenceEngine, states: Sequence[State], rounds: Rounds) -> str:
    """Why the run does not break the property; empty if it does."""
    case = case_of(engine.model, rounds)
    name, kind = rounds.promise.name, rounds.promise.kind
    if case is None:
        return f"{name} is not about {rounds.member!r}"
    holds = [engine.holds(case.claim, state) for state in states]
    if kind is Kind.EVENTUALLY_ALWAYS:
        return f"{name} holds all along the loop" if all(holds[rounds.start :]) else ""
    owing = 0 if kind is Kind.EVENTUALLY else rounds.start
    if kind is Kind.LEADS_TO:
        assert case.premise is not None
        owed = [n for n, state in enumerate(states) if engine.holds(case.premise, state)]
        since = max((n + 1 for n, true in enumerate(holds) if true), default=0)
        if any(holds[rounds.start :]):
            owing = rounds.start
        elif not any(number >= since for number in owed):
            return f"{name} is not owed: its premise is false since state {since}"
        else:
            owing = since
    if any(holds[owing:]):
        return f"{name} holds in state {owing + holds[owing:].index(True)}"
    return ""


def how_met(
    engine: ReferenceEngine, states: Sequence[State], steps: Sequence[Instance], rounds: Rounds
) -> Iterator[Met]:
    """For each fairness group how the circle meets it, in order."""
    model, start = engine.model, rounds.start
    circle = range(start, max(len(steps), start + 1))
    taken = {
        steps[n].number: n + 1
        for n in reversed(range(start, len(steps)))
        if states[n] != states[n + 1]
    }
    enabled: dict[int, set[int]] = {
        n: {
            instance.number
            for instance in model.instances
            if _step(engine, states[n], instance) not in (None, states[n])
        }
        for n in circle
    }
    for group in groups_of(model, rounds.fairness):
        where = [n for n in circle if enabled[n] & group.instances]
        by = min((taken[i] for i in group.instances if i in taken), default=None)
        how = ""
        if by is not None:
            how = f"taken by step {by}"
        elif not where:
            how = "not enabled"
        elif group.strength is Strength.WEAK and len(where) < len(circle):
            free = next(n for n in circle if n not in where)
            how = f"not enabled in state {free}"
        yield Met(group, how, bool(where))


def _step(engine: ReferenceEngine, state: State, instance: Instance) -> State | None:
    try:
        return engine.step(state, instance)
    except DomainError:
        return None


def round_words(
    engine: ReferenceEngine, states: Sequence[State], steps: Sequence[Instance], rounds: Rounds
) -> tuple[str, ...]:
    """What the end of a lasso shows: that it goes round, and how fairness is met, in sentences."""
    start, last = rounds.start, len(steps)
    if start == last:
        first = f"The run stops in state {last}: nothing fair is enabled there"
    else:
        first = f"The run goes on with step {start + 1} for ever: state {last} is state {start}"
    met = list(how_met(engine, states, steps, rounds))
    lines = [f"{m.group.words}, {m.group.strength}: {m.how}" for m in met if m.matters]
    idle = sum(not m.matters for m in met)
    if not met:
        lines.append("no action is fair: a run may stop anywhere")
    elif idle:
        where = "in that state" if start == last else "on the loop"
        lines.append(f"{idle} fair {'group is' if idle == 1 else 'groups are'} not enabled {where}")
    return (f"{first}.", f"Fairness: {'; '.join(lines)}.")
