"""Where in its source stands what a trace is about: the claim that is false, or the last step."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from checker.core.traces.trace import Trace
from properties import Liveness, Property


def broken(trace: Trace) -> Property | Liveness | None:
    """The property that a trace violates; `None` if it ends where nothing is enabled."""
    return trace.claim if trace.rounds is None else trace.rounds.promise


def blamed(trace: Trace) -> Callable[..., Any]:
    """The function of the property, else that of the step after which nothing is enabled."""
    about = broken(trace)
    if about is not None:
        return about.claim
    return trace.steps[-1].action.function if trace.steps else _nowhere


def _nowhere() -> None:
    """Where a deadlock of the initial state is."""


def line_of(function: Callable[..., Any]) -> tuple[Path, int]:
    """The file of a function, and the line from 1 at which its declaration begins."""
    code = function.__code__
    return Path(code.co_filename).resolve(), code.co_firstlineno
