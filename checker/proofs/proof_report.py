"""What a proof attempt says, for people and for programs, and the exit status for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from checker.exits import Exit
from checker.proofs.bounded_check import BoundedCheck
from checker.proofs.proof import Obligation, Outcome, Proof
from checker.traces.naming import instance_words
from checker.traces.trace import Trace, build_trace, highwater_version
from checker.verdict import Verdict
from model.language.errors import DomainError, RejectedError
from model.language.protocol import Model
from properties import choose_properties

_STATUS = {
    Verdict.PROVED: Exit.OK,
    Verdict.BOUNDED: Exit.OK,
    Verdict.VIOLATED: Exit.VIOLATED,
    Verdict.NOT_INDUCTIVE: Exit.NOT_INDUCTIVE,
    Verdict.UNKNOWN: Exit.LIMIT,
}
_MEANING = {
    Verdict.PROVED: "the properties hold in every state that any run reaches",
    Verdict.VIOLATED: "a property is false in a state that a run reaches",
    Verdict.NOT_INDUCTIVE: "no proof: a step breaks a lemma from a state that may be unreachable",
    Verdict.UNKNOWN: "no proof: the solver found no answer",
    Verdict.BOUNDED: "no run of that length violates a property; longer ones were not looked at",
}


def exit_status(verdict: Verdict) -> Exit:
    """The exit status that says the verdict."""
    return _STATUS[verdict]


def model_words(model: Model) -> str:
    """Protocol, bounds and settings in one line."""
    bounds = ", ".join(f"{name.replace('_', ' ')} {size}" for name, size in model.bounds.items())
    chosen = model.identity["settings"]
    settings = "; " + ", ".join(f"{k}={v}" for k, v in chosen.items()) if chosen else ""
    return f"{model.protocol.name}: {bounds}{settings}"


def obligation_words(obligation: Obligation) -> str:
    """One line about an obligation."""
    what = " ".join(part for part in (obligation.action, obligation.lemma) if part)
    words = {
        Outcome.JOINED: "does not follow; to be shown inductive itself",
        Outcome.NOT_INDUCTIVE: "fails",
        Outcome.UNKNOWN: f"unknown ({obligation.reason or 'no answer'})",
    }.get(obligation.outcome, str(obligation.outcome))
    vacuous = " (never enabled)" if obligation.vacuous else ""
    return f"{what:<52} {words}{vacuous}  {obligation.seconds:.2f} s"


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


def render_proof(proof: Proof) -> str:
    """The result as text, the counterexample apart."""
    return "\n".join(_proof_lines(proof)) + "\n"


def _proof_lines(proof: Proof) -> Iterator[str]:
    if proof.unbounded:
        yield f"{proof.model.protocol.name}: any number of members, every value of the bounds"
    else:
        yield model_words(proof.model)
    yield "properties: " + ", ".join(prop.name for prop in proof.properties)
    yield "lemmas: " + (", ".join(lemma.name for lemma in proof.lemmas) or "none")
    yield ""
    yield from map(obligation_words, proof.obligations)
    yield ""
    for action in proof.never_enabled:
        yield f"note: no state that satisfies the lemmas enables {action}"
    found = proof.counterexample
    if found is not None:
        when = "initially"
        if found.instance is not None:
            when = f"after {instance_words(proof.model, found.instance)}"
        yield f"{found.lemma} is false {when}"
    where = "for all sizes" if proof.unbounded else "within the bounds on sizes, at any depth"
    verdict = proof.verdict
    scope = f", {where}" if verdict is Verdict.PROVED else ""
    yield f"{verdict}: {_MEANING[verdict]}{scope}  ({proof.seconds:.1f} s)"


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
        "bounds": None if proof.unbounded else dict(proof.model.bounds),
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


def render_bounded(result: BoundedCheck) -> str:
    """The result as text, the trace apart."""
    lines = [model_words(result.model)]
    lines.append("properties: " + ", ".join(prop.name for prop in result.properties))
    if result.lemmas:
        lines.append("with lemmas: " + ", ".join(lemma.name for lemma in result.lemmas))
    if result.violated is not None:
        lines.append(f"{result.violated} is violated at depth {len(result.steps)}")
    if result.stopped:
        lines.append(result.stopped)
    depth = f" (all runs of at most {result.depth} steps, {sum(result.seconds):.1f} s)"
    lines.append(f"{result.verdict}: {_MEANING[result.verdict]}{depth}")
    return "\n".join(lines) + "\n"


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
        "seconds": [round(seconds, 3) for seconds in result.seconds],
        "version": highwater_version(),
    }
