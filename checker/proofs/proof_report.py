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
from properties import choose_properties

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


# --- induction -------------------------------------------------------------------------------


def counterexample_trace(proof: Proof) -> Trace | None:
    """The counterexample to induction, replayed; `None` if there is none that can be shown."""
    found = proof.counterexample
    if found is None:
        return None
    known = {prop.name for prop in (*proof.properties, *proof.invariants)}
    if found.lemma not in known:
        return None
    steps = [] if found.instance is None else [found.instance]
    try:
        return build_trace(proof.model, steps, found.lemma, start=found.states[0])
    except (RejectedError, DomainError) as error:
        raise RuntimeError(f"the reference engine does not confirm Z3: {error}") from error


def proof_json(proof: Proof, trace: str | None = None) -> dict[str, Any]:
    """The result as plain data. `trace` is where the counterexample was stored."""
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
        "command": "prove",
        **proof.model.identity,
        "bounds": proof.bounds,
        "unbounded": proof.unbounded,
        "symmetry": proof.symmetry,
        "properties": [prop.name for prop in proof.properties],
        "lemmas": [lemma.name for lemma in proof.lemmas],
        "verdict": str(proof.verdict),
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
        "version": highwater_version(),
    }


# --- bounded checking ------------------------------------------------------------------------


def violation_trace(result: BoundedCheck) -> Trace | None:
    """The trace to the violation, replayed; `None` without one that can be shown."""
    if result.violated is None:
        return None
    if result.violated not in {prop.name for prop in result.properties}:
        return None
    (prop,) = choose_properties(result.model.protocol, [result.violated])
    return build_trace(result.model, result.steps, prop)


def bounded_json(result: BoundedCheck, trace: str | None = None) -> dict[str, Any]:
    """The result as plain data."""
    return {
        "command": "prove",
        **result.model.identity,
        "properties": [prop.name for prop in result.properties],
        "lemmas": [lemma.name for lemma in result.lemmas],
        "verdict": str(result.verdict),
        "depth": result.depth,
        "violated": result.violated,
        "steps": [instance_words(result.model, step) for step in result.steps],
        "stopped": result.stopped,
        "trace": trace,
        "cross_check": Agreement.data(result.agreement),
        "seconds": [round(seconds, 3) for seconds in result.seconds],
        "version": highwater_version(),
    }
