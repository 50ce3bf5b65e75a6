"""What an exploration found, for people and for programs, and the exit status that says it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from checker.core.exits import Exit
from checker.core.traces.trace import Trace, TraceVerdict, build_trace
from checker.core.verdict import Agreement, Exploration, Judgement, Verdict
from checker.distribution import highwater_version
from model.language.errors import RejectedError
from model.language.naming import instance_words
from model.language.protocol import Instance, Model
from properties import Property, Sense

if TYPE_CHECKING:
    from checker.commands.outputs import common, searches


@dataclass(frozen=True)
class Finding:
    """A trace that an exploration found: to a violation, or to a state that enables nothing."""

    trace: Trace
    path: Path | None = None

    @property
    def name(self) -> str:
        """The property, or `deadlock`."""
        return self.trace.property or "deadlock"


# --- findings --------------------------------------------------------------------------------


def findings(exploration: Exploration) -> tuple[Finding, ...]:
    """The traces of all violations, replayed on the reference engine, with that of a deadlock.

    Runs for ever that break liveness properties come last.
    """
    model = exploration.model
    found = [_confirmed(model, v.steps, v.property.name) for v in exploration.violations]
    if exploration.deadlock is not None:
        found.append(_confirmed(model, exploration.deadlock, None))
    found += [_confirmed_lasso(model, judgement) for judgement in exploration.unfulfilled]
    return tuple(Finding(trace) for trace in found)


def _confirmed_lasso(model: Model, judgement: Judgement) -> Trace:
    """Its trace; an error of ours if the reference engine does not go twice around."""
    from checker.lab.experiments.liveness_table import lasso_trace

    try:
        trace = lasso_trace(model, judgement)
    except RejectedError as error:
        raise _not_confirmed(judgement.property.name, error) from error
    assert trace is not None
    return trace


def _not_confirmed(what: str, error: RejectedError) -> RuntimeError:
    return RuntimeError(f"the reference engine does not confirm the trace to {what}: {error}")


def _confirmed(model: Model, steps: tuple[Instance, ...], name: str | None) -> Trace:
    """The trace; an internal error in Highwater if the reference engine does not agree."""
    verdict = None if name else TraceVerdict.DEADLOCK
    try:
        return build_trace(model, steps, name, verdict=verdict)
    except RejectedError as error:
        raise _not_confirmed(name or "a deadlock", error) from error


# --- judgement -------------------------------------------------------------------------------


def exit_status(
    exploration: Exploration, require_exhaustive: bool = False, asked: Collection[str] = ()
) -> Exit:
    """What the exploration says, as an exit status: the gravest first.

    A search that was cut short has no answer; one to a depth that was asked for has, unless it is
    required to be exhaustive. That a property is vacuous counts if its name was `asked` for; else
    it is a warning.
    """
    if exploration.violations:
        return Exit.VIOLATED
    if exploration.deadlock is not None:
        return Exit.DEADLOCK
    if exploration.unfulfilled:
        return Exit.UNFULFILLED
    if exploration.coverage is not Verdict.EXHAUSTED:
        is_cut = exploration.coverage is Verdict.UNKNOWN
        return Exit.LIMIT if require_exhaustive or is_cut else Exit.OK
    return Exit.VACUOUS if set(vacuous(exploration)) & set(asked) else Exit.OK


def vacuous(exploration: Exploration) -> list[str]:
    """The invariants and liveness properties whose premise no visited state makes true."""
    return [
        prop.name
        for prop in exploration.properties
        if prop.sense is Sense.ALWAYS and exploration.is_vacuous(prop)
    ] + [judgement.property.name for judgement in exploration.liveness if not judgement.owed]


def warnings(exploration: Exploration) -> Iterator[str]:
    """What makes the verdict say less than it seems to."""
    where = f"up to depth {exploration.depth}, deeper may be"
    if exploration.coverage is Verdict.EXHAUSTED:
        where = "within these bounds"
    for words, names in (
        ("vacuous, since no state makes the premise true", vacuous(exploration)),
        ("actions never enabled", exploration.never_enabled),
        ("witnesses not reached", exploration.unreached),
    ):
        if names:
            yield f"{words} ({where}): {', '.join(names)}"
    for judgement in exploration.liveness:
        if judgement.held_up:
            yield (
                f"{judgement.property.name}: in {judgement.held_up:,} states a run may wait for "
                "ever for a fair step that only a bound forbids: such runs are not judged, and "
                "with more room one may violate it"
            )
    if len(off := exploration.switched_off) == 1:
        yield f"switched off by these bounds and settings: {off[0]}"
    elif off:
        yield f"switched off by these bounds and settings: {len(off)} actions"


def rate(exploration: Exploration) -> float:
    """Distinct states a second."""
    return exploration.distinct_states / max(exploration.seconds, 1e-9)


# --- for programs ----------------------------------------------------------------------------


def to_json(exploration: Exploration, found: tuple[Finding, ...]) -> searches.Explore:
    """The summary as plain data, for JSON. Absent traces and causes are `None`."""
    by_name = {finding.name: finding for finding in found}
    deadlock = by_name.get("deadlock") if exploration.deadlock is not None else None
    about = exploration.model.identity
    return {
        "command": "explore",
        "protocol": about["protocol"],
        "bounds": about["bounds"],
        "settings": about["settings"],
        "engine": exploration.engine,
        "symmetry": exploration.symmetry,
        "reduced": exploration.reduced,
        "verdict": exploration.verdict,
        "coverage": exploration.coverage,
        "stopped": exploration.stopped or None,
        "depth": exploration.depth,
        "distinct_states": exploration.distinct_states,
        "unfinished": exploration.unfinished,
        "transitions": exploration.transitions,
        "levels": exploration.levels,
        "actions": {name: asdict(count) for name, count in exploration.actions.items()},
        "properties": {
            prop.name: _of_property(exploration, prop) for prop in exploration.properties
        },
        "violations": [finding_data(by_name[v.property.name]) for v in exploration.violations],
        "deadlock": finding_data(deadlock) if deadlock else None,
        "liveness": {
            j.property.name: _of_liveness(j, by_name.get(j.property.name))
            for j in exploration.liveness
        },
        "warnings": list(warnings(exploration)),
        "cross_check": Agreement.data(exploration.agreement),
        "fingerprint_bits": exploration.fingerprint_bits,
        "collision_probability": exploration.collision_probability,
        "seconds": round(exploration.seconds, 3),
        "states_per_second": round(rate(exploration)),
        "peak_memory_bytes": exploration.peak_memory_bytes,
        "disk_bytes": exploration.disk_bytes,
        "version": highwater_version(),
    }


def _of_property(exploration: Exploration, prop: Property) -> searches.PropertyFound:
    return {
        "verdict": exploration.verdict_on(prop),
        "sense": prop.sense,
        "vacuous": exploration.is_vacuous(prop),
        "depth": settled_at(exploration, prop),
    }


def _of_liveness(judgement: Judgement, finding: Finding | None) -> searches.LivenessFound:
    return {
        "verdict": judgement.verdict,
        "kind": judgement.property.kind,
        "vacuous": not judgement.owed,
        "member": judgement.member or None,
        "fairness": [str(one) for one in judgement.fairness],
        "held_up": judgement.held_up,
        "lasso": finding_data(finding) if finding else None,
    }


def settled_at(exploration: Exploration, prop: Property) -> int | None:
    """The depth at which a property was violated, or a witness reached."""
    violation = exploration.violated.get(prop.name)
    return exploration.reached.get(prop.name) if violation is None else violation.depth


def finding_data(finding: Finding) -> common.Finding:
    """A trace as plain data, with the place where it is stored."""
    trace = finding.trace
    data: common.Finding = {
        "property": trace.property,
        "depth": trace.depth,
        "trace": str(finding.path) if finding.path else None,
        "steps": [instance_words(trace.model, step) for step in trace.steps],
        "explanation": trace.explanation,
    }
    if trace.rounds:
        data["loop"] = trace.rounds.start
    return data
