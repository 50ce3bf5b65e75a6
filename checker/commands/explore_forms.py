"""The forms in which `explore` prints what it found: for people, for programs, for CI."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from checker.commands.common import console
from checker.commands.forms import JSON, Form

if TYPE_CHECKING:
    from checker.commands.summary import Finding
    from checker.core.verdict import Exploration
    from properties import Liveness, Property

VACUOUS = "no state that was visited makes its premise true, so nothing could violate it"


@dataclass(frozen=True)
class Found:
    """What a search found, its traces, and whether counts of actions are told too."""

    result: Exploration
    traces: tuple[Finding, ...]
    stats: bool

    @property
    def asked(self) -> list[Property | Liveness]:
        """All that was asked about, of states and steps first."""
        return [*self.result.properties, *(each.property for each in self.result.liveness)]

    @property
    def stopped(self) -> str:
        """Who or what ended the search before there was an answer; empty if nobody did."""
        from checker.core.search.limits import who_stopped

        return who_stopped(self.result.stopped)


def _text(found: Found) -> str:
    from checker.commands.summary_text import render

    return render(found.result, found.traces, console(), found.stats)


def _json(found: Found) -> str:
    from checker.commands.summary import to_json

    return json.dumps(to_json(found.result, found.traces)) + "\n"


def _sarif(found: Found) -> str:
    from checker.telling.report.sarif import sarif

    told = sarif(found.asked, (one.trace for one in found.traces), found.stopped)
    return json.dumps(told, indent=2) + "\n"


def _junit(found: Found) -> str:
    from checker.telling.report.junit import Checked, junit

    result = found.result
    traces = {one.name: one.trace for one in found.traces}
    why = f"no answer: stopped by {found.stopped}" if found.stopped else ""
    checked = [Checked(each.name, traces.get(each.name), why) for each in found.asked]
    if result.deadlock is not None:
        checked.append(Checked("deadlock", traces["deadlock"]))
    return junit(result.model.protocol.name, checked, result.seconds)


def _github(found: Found) -> str:
    from checker.commands.summary import vacuous
    from checker.commands.summary_text import verdict_words
    from checker.core.verdict import Verdict
    from checker.telling.report.github import annotated, annotation, place

    result, root = found.result, repository()
    name = result.model.protocol.name
    lines = [annotated(one.trace, root) for one in found.traces]
    if not found.traces:
        verdict, rest = verdict_words(result)
        level = "error" if found.stopped else "warning"
        level = "notice" if result.verdict is Verdict.EXHAUSTED else level
        lines.append(annotation(level, f"{name}: {verdict}", rest))
    empty = [] if found.stopped else vacuous(result)
    lines += [
        annotation("warning", f"{name}: {each.name} is vacuous", VACUOUS, place(each.claim, root))
        for each in found.asked if each.name in empty
    ]  # fmt: skip
    return f"{_text(found)}\n{''.join(lines)}"


def error_annotation(message: str, command: str) -> str:
    """An error that kept a command from its answer, in the form of `github`."""
    from checker.telling.report.github import annotation

    return annotation("error", f"highwater {command}".rstrip(), message)


def repository() -> Path:
    """The directory from which a job names its files: $GITHUB_WORKSPACE, else the current one."""
    return Path(os.environ.get("GITHUB_WORKSPACE") or ".").resolve()


def _markdown(found: Found) -> str:
    from checker.commands.summary_markdown import render

    return render(found.result, found.traces)


FORMS = (
    Form("text", "for people", _text),
    Form(JSON, "one object", _json),
    Form("sarif", "alerts in CI", _sarif),
    Form("junit", "a test report in CI", _junit),
    Form("github", "text, and annotations in GitHub Actions", _github),
    Form("markdown", "a page", _markdown),
)
