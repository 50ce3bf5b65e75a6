"""What the site's page "Try it" calls in a browser's Python: a search, and the pages of its traces.

A browser has no NumPy, machine code, solver, thread or process for us: it is the reference engine
that searches there. Nothing is raised: whoever is at the page gets one line instead.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from checker.api.asking import Answer, explore
from checker.core.amounts import counted
from checker.core.search.limits import Progress
from checker.telling.report.html import render_html
from model.language.errors import HighwaterError

OWN = "own.py"
"""The file that a protocol of one's own is written into, as messages name it."""


def told(asked: str, on_progress: Callable[[str], None] = lambda _: None) -> str:
    """The answer to a question, both as JSON objects in text.

    `asked` has `protocol`, a name, or `text`, a file that declares one; `bounds`, numbers by name;
    `max_states` and `max_seconds`. The answer has `line`, what was found or what is wrong; `wrong`,
    whether it is the latter; and `traces`, each with a `name` and a `page` of HTML. `on_progress`
    is told in words how far the search is.
    """
    question = json.loads(asked)
    try:
        return json.dumps(_found(question, lambda at: on_progress(_far(at))))
    except HighwaterError as error:
        line = f"error: {error}"
    except (MemoryError, RecursionError) as error:
        line = f"error: {type(error).__name__}: more than a browser's Python can do"
    return json.dumps({"line": line, "wrong": True, "traces": []})


def _found(question: Mapping[str, Any], on_progress: Callable[[Progress], None]) -> dict[str, Any]:
    """What a search finds, as plain data."""
    if "text" in question:
        os.chdir(tempfile.mkdtemp())  # a file is imported once, and messages name it from here
        Path(OWN).write_text(question["text"], encoding="utf-8")
    answer = explore(
        OWN if "text" in question else question["protocol"],
        max_states=question["max_states"],
        max_seconds=question["max_seconds"],
        engine="reference",
        on_progress=on_progress,
        **question["bounds"],
    )
    pages = [
        {"name": trace.property or "deadlock", "page": render_html(trace)}
        for trace in answer.traces
    ]
    return {"line": _line(answer), "wrong": False, "traces": pages}


def _line(answer: Answer) -> str:
    """What was found: the summary, and what ended the search before its end."""
    found = answer.result
    if found.violations:
        return (
            f"{answer.summary}; no shorter trace exists ({counted(found.distinct_states, 'state')})"
        )
    stopped = f": stopped by {found.stopped}" if found.stopped else ""
    return f"{answer.summary}{stopped}"


def _far(at: Progress) -> str:
    return f"{counted(at.states, 'state')}, {counted(at.depth, 'step')} deep"
