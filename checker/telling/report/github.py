"""Violations as GitHub's workflow commands, which it shows beside the lines that they are about.

A job prints `::error file=F,line=N,title=T::MESSAGE`. Escapes are those of GitHub's own toolkit
(`packages/core/src/command.ts`): of a message `%` and line ends, of what stands before it also `:`
and `,`. A file that is not below `root`, the repository's, is not named: no change has its lines.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from checker.core.amounts import counted
from checker.core.engines.reference import ReferenceEngine
from checker.core.traces.trace import Trace
from checker.telling.report.blame import blamed, broken, line_of

_IN_MESSAGES = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_IN_VALUES = {**_IN_MESSAGES, ":": "%3A", ",": "%2C"}


def annotation(level: str, title: str, message: str, place: tuple[str, int] | None = None) -> str:
    """A line that says it, of level `error`, `warning` or `notice`; `place` is file and line."""
    values = {"title": title}
    if place is not None:
        values = {"file": place[0], "line": str(place[1]), **values}
    told = ",".join(f"{name}={_escaped(value, _IN_VALUES)}" for name, value in values.items())
    return f"::{level} {told}::{_escaped(message, _IN_MESSAGES)}\n"


def annotated(trace: Trace, root: Path) -> str:
    """The error at the property: what is wrong in the last state, then every step."""
    about, engine = broken(trace), ReferenceEngine(trace.model)
    said = f"{about.name} is violated" if about is not None else "nothing is enabled"
    words = trace.explanation or (about.words if about is not None else "a deadlock")
    steps = [
        f"{number}. {engine.words(state, step)}"
        for number, (step, state) in enumerate(zip(trace.steps, trace.states, strict=False), 1)
    ]
    title = f"{trace.model.protocol.name}: {said} after {counted(trace.depth, 'step')}"
    return annotation("error", title, "\n".join([words, *steps]), place(blamed(trace), root))


def place(function: Callable[..., Any], root: Path) -> tuple[str, int] | None:
    """The file of a function from `root`, and its line; `None` if it is not below."""
    file, line = line_of(function)
    near = file.is_relative_to(root)
    return (file.relative_to(root).as_posix(), line) if near else None


def _escaped(text: str, escapes: dict[str, str]) -> str:
    return "".join(escapes.get(character, character) for character in text)
