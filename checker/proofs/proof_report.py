"""What a proof attempt comes to: its exit status, its trace, and its result as plain data."""

from __future__ import annotations

from typing import Any

from checker.exits import Exit
from checker.proofs.bounded.bounded_check import BoundedCheck
from checker.proofs.proof import Proof
from checker.traces.trace import Trace, build_trace, highwater_version
from checker.verdict import Agreement, Verdict
from model.language.errors import DomainError, RejectedError
from model.language.naming import instance_words

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


def as_data(result: Proof | BoundedCheck, trace: str | None = None) -> dict[str, Any]:
    """The result as plain data. `trace` is where its trace was stored."""
    more = _bounded(result, trace) if isinstance(result, BoundedCheck) else _proof(result, trace)
    return {
        "command": "prove",
        **result.model.identity,
        "properties": [prop.name for prop in result.properties],
        "lemmas": [lemma.name for lemma in result.lemmas],
        "verdict": str(result.verdict),
        **more,
        "version": highwater_version(),
    }


def _proof(proof: Proof, trace: str | None) -> dict[str, Any]:
    found = proof.counterexample
    counterexample = None
    if found is not None:
        counterexample = {
            "lemma": found.lemma,
            "step": instance_words(proof.model, found.instance) if found.instance else None,
            "may_be_unreachable": found.instance is not None,
            "trace": trace,
        }
    return {
        "bounds": proof.bounds,
        "unbounded": proof.unbounded,
        "symmetry": proof.symmetry,
        "obligations": [
            {
                "action": o.action,
                "lemma": o.lemma,
                "outcome": str(o.outcome),
                "never_enabled": o.vacuous,
                "queries": o.queries,
                "seconds": round(o.seconds, 3),
            }
            for o in proof.obligations
        ],
        "counterexample": counterexample,
        "cross_check": Agreement.data(proof.agreement),
        "seconds": round(proof.seconds, 3),
    }


def _bounded(result: BoundedCheck, trace: str | None) -> dict[str, Any]:
    return {
        "depth": result.depth,
        "violated": result.violated,
        "steps": [instance_words(result.model, step) for step in result.steps],
        "stopped": result.stopped,
        "trace": trace,
        "cross_check": Agreement.data(result.agreement),
        "seconds": [round(seconds, 3) for seconds in result.seconds],
    }
