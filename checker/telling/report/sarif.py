"""Violations as SARIF 2.1.0, which code hosts show beside the lines that they are about.

A result is at the property that is violated; its code flow goes through the actions of the trace.
Files below the working directory are named from there, others by their whole address.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from checker.core.amounts import counted
from checker.core.engines.reference import ReferenceEngine
from checker.core.traces.trace import Trace
from checker.distribution import highwater_version
from checker.telling.report.blame import blamed, broken, line_of
from properties import Liveness, Property

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
DEADLOCK = "deadlock"


def sarif(
    rules: Iterable[Property | Liveness], traces: Iterable[Trace], problem: str = ""
) -> dict[str, Any]:
    """One run that checked `rules` and found `traces`; `problem` says why it came to no end."""
    known = [{"id": rule.name, "shortDescription": {"text": rule.words}} for rule in rules]
    found = list(traces)
    if any(trace.property is None for trace in found):
        known.append({"id": DEADLOCK, "shortDescription": {"text": "some step is always enabled"}})
    notes = [{"level": "warning", "message": {"text": f"stopped by {problem}"}}] if problem else []
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "Highwater", "version": highwater_version(), "rules": known,
            }},
            "invocations": [
                {"executionSuccessful": True, "toolExecutionNotifications": notes}
            ],
            "results": [_result(trace) for trace in found],
        }],
    }  # fmt: skip


def _result(trace: Trace) -> dict[str, Any]:
    model, engine = trace.model, ReferenceEngine(trace.model)
    about = broken(trace)
    flow = [
        {
            "executionOrder": number,
            "location": _location(step.action.function, engine.words(state, step)),
        }
        for number, (step, state) in enumerate(zip(trace.steps, trace.states, strict=False), 1)
    ]
    steps = counted(trace.depth, "step")
    said = about.words if about is not None else "a state enables nothing"
    text = f"{model.protocol.name}: after {steps}: {trace.explanation or said}"
    result: dict[str, Any] = {
        "ruleId": about.name if about is not None else DEADLOCK,
        "kind": "fail",
        "level": "error",
        "message": {"text": text},
        "locations": [_location(blamed(trace))],
        "properties": {**model.identity, "depth": trace.depth},
    }
    if flow:
        result["codeFlows"] = [{"threadFlows": [{"locations": flow}]}]
    return result


def _location(function: Callable[..., Any], words: str = "") -> dict[str, Any]:
    file, line = line_of(function)
    near = file.is_relative_to(Path.cwd())
    place = {
        "artifactLocation": {"uri": file.relative_to(Path.cwd()).as_posix(), "uriBaseId": "SRCROOT"}
        if near
        else {"uri": file.as_uri()},
        "region": {"startLine": line},
    }
    return {"physicalLocation": place} | ({"message": {"text": words}} if words else {})
