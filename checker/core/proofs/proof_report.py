"""What a proof attempt comes to: its exit status, and its trace."""

from __future__ import annotations

from checker.core.exits import Exit
from checker.core.proofs.bounded.bounded_check import BoundedCheck
from checker.core.proofs.proof import Proof
from checker.core.traces.trace import Trace, build_trace
from checker.core.verdict import Verdict
from model.language.errors import DomainError, RejectedError

_STATUS = {
    Verdict.PROVED: Exit.OK,
    Verdict.BOUNDED: Exit.OK,
    Verdict.VIOLATED: Exit.VIOLATED,
    Verdict.NOT_INDUCTIVE: Exit.NOT_INDUCTIVE,
    Verdict.UNKNOWN: Exit.LIMIT,
}


def exit_status(verdict: Verdict) -> Exit:
    """The exit status that says the verdict."""
    return _STATUS[verdict]


def trace_of(result: Proof | BoundedCheck) -> Trace | None:
    """The violation or the counterexample to induction, replayed; `None` without one to show."""
    if isinstance(result, BoundedCheck):
        name, steps, start = result.violated, result.steps, None
        known = result.properties
    elif (found := result.counterexample) is None:
        return None
    else:
        name, (start,) = found.lemma, found.states
        steps = () if found.instance is None else (found.instance,)
        known = (*result.properties, *result.invariants)
    if name not in {prop.name for prop in known}:
        return None
    try:
        return build_trace(result.model, steps, name, start=start)
    except (RejectedError, DomainError) as error:
        raise RuntimeError(f"the reference engine does not confirm Z3: {error}") from error
