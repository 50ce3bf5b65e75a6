"""A walk as something to keep: a trace as `explore` writes them, a pytest test, or a scenario."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from checker.core.traces.itf import trace_as_itf
from checker.core.traces.itf_values import plain_state
from checker.core.traces.trace import Trace, build_trace
from checker.telling.browse.walk import Walk
from model.language.declare.domains import Reference
from model.language.declare.settings import as_text
from model.language.errors import UsageError
from model.language.naming import instance_words, member_name
from model.language.protocol import Instance, Model
from model.protocols import reference_of

KINDS = ("trace", "test", "scenario")


@dataclass(frozen=True)
class Kept:
    """A file to keep: its name, and what is in it."""

    name: str
    text: str


def keep(walk: Walk, at: int, kind: str) -> Kept:
    """The way to a visited state, as one of `KINDS`. `UsageError` if it cannot be kept as that."""
    if kind not in KINDS:
        raise UsageError(f"a walk is no {kind!r}: valid are {', '.join(KINDS)}")
    trace = trace_to(walk, at)
    stem = f"{trace.model.protocol.name}-{trace.property or 'walk'}"
    if kind == "trace":
        return Kept(f"{stem}.itf.json", trace_as_itf(trace))
    stem = re.sub(r"\W", "_", stem)
    if kind == "test":
        return Kept(f"test_{stem}.py", _as_test(trace))
    return Kept(f"{stem}.toml", _as_scenario(walk, trace))


def trace_to(walk: Walk, at: int) -> Trace:
    """The trace of the way to a visited state: of a violation if there is one, else of a run."""
    states, steps = walk.run_to(at)
    violated = walk.violated(*states[-2:])
    start = None if states[0] == walk.engine.initial() else states[0]
    if start is not None and not violated:
        raise UsageError(
            "a walk from a state that was typed in can be kept where it ends in a violation: "
            "nothing is violated here"
        )
    return build_trace(walk.model, steps, violated[0].name if violated else None, start=start)


def _as_test(trace: Trace) -> str:
    model = trace.model
    bounds = "".join(f", {name}={value}" for name, value in model.bounds.items())
    more = f", property={trace.property!r}" if trace.property else ""
    lines = [
        f'"""A walk through {_name_of(model)}, kept by `highwater browse`."""',
        "",
        "import highwater",
        "",
        *_listing("STEPS", [instance_words(model, step) for step in trace.steps]),
        f"SETTINGS = {_changed_settings(model)!r}",
    ]
    if trace.states[0] != model.initial_state:
        lines += [f"START = {plain_state(model, trace.states[0])!r}"]
        more += ", start=START"
    return "\n".join(
        [
            *lines,
            "",
            "",
            f"def test_the_walk_is_{trace.verdict}():",
            f"    trace = highwater.run({_name_of(model)!r}, STEPS, SETTINGS{more}{bounds})",
            f"    assert (trace.verdict, trace.depth) == ({str(trace.verdict)!r}, {trace.depth})",
            "",
        ]
    )


def _listing(name: str, items: list[str]) -> list[str]:
    return [f"{name} = [", *(f"    {item!r}," for item in items), "]"]


def _name_of(model: Model) -> str:
    """What commands find the protocol by."""
    return reference_of(model.protocol) or model.protocol.name


def _changed_settings(model: Model) -> dict[str, str]:
    default = as_text(model.protocol.settings())
    return {n: value for n, value in as_text(model.settings).items() if value != default[n]}


def _as_scenario(walk: Walk, trace: Trace) -> str:
    model = trace.model
    if trace.states[0] != model.initial_state:
        raise UsageError(
            "a scenario begins in the initial state: keep this walk as a trace or test"
        )
    names, events = {}, []
    for step in trace.steps:
        words = []
        for name, real in _arguments(model, step):
            words.append(name)
            if name != real:
                names[name] = real
        events.append(" ".join([step.action.name, *words]))
    ends = walk.violated(*trace.states[-2:])
    checks = [
        f"{'violated' if claim in ends else 'holds'} {claim.name}"
        for claim in walk.properties
        if claim.frames <= len(trace.states)
    ]
    bounds = ", ".join(f"{name} = {value}" for name, value in model.bounds.items())
    settings = ", ".join(
        f"{json.dumps(name)} = {json.dumps(value)}"
        for name, value in _changed_settings(model).items()
    )
    lines = [f"title = {json.dumps(f'A walk through {model.protocol.name}')}", ""]
    if names:
        lines += ["[names]", *(f"{key} = {json.dumps(real)}" for key, real in names.items()), ""]
    lines += [
        "[[run]]",
        'name = "as it was walked"',
        f"protocol = {json.dumps(_name_of(model))}",
        f"settings = {{ {settings} }}",
        f"bounds = {{ {bounds} }}",
        'events = """',
        *events,
        *checks,
        '"""',
        "",
    ]
    return "\n".join(lines)


def _arguments(model: Model, step: Instance) -> list[tuple[str, str]]:
    """Each argument as one word, and the real name of the member or row that it stands for."""
    found = []
    for parameter, argument in zip(step.parameters, step.arguments, strict=True):
        if isinstance(parameter.domain, Reference):
            real = member_name(model, parameter.domain.family, argument)
            found.append((re.sub(r"[^\w-]", "-", real), real))
        else:
            found.append((str(argument), str(argument)))
    return found
