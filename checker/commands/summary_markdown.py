"""The summary of an exploration as a page in Markdown, which a code host shows with a run."""

from __future__ import annotations

from collections.abc import Iterator

from checker.commands.summary import Finding, warnings
from checker.commands.summary_text import (
    liveness_words,
    model_heading,
    property_words,
    verdict_words,
)
from checker.core.verdict import Exploration
from checker.telling.report.markdown import escaped, render_markdown


def render(exploration: Exploration, found: tuple[Finding, ...]) -> str:
    """The verdict, a table of what was asked, and each trace."""
    return "\n".join([*_summary(exploration), *(render_markdown(one.trace) for one in found)])


def _summary(exploration: Exploration) -> Iterator[str]:
    name, *bounds = model_heading(exploration.model).plain.split("\n")
    word, rest = verdict_words(exploration)
    yield f"# {escaped(name)}\n"
    yield from (f"{escaped(line)}\n" for line in bounds)
    yield f"**{word}**: {escaped(rest)}\n"
    yield "| property | verdict |\n|---|---|"
    for prop in exploration.properties:
        yield f"| `{prop.name}` | {property_words(exploration, prop).plain} |"
    for judgement in exploration.liveness:
        yield f"| `{judgement.property.name}` | {liveness_words(judgement).plain} |"
    yield ""
    noted = list(warnings(exploration))
    yield from (f"- warning: {escaped(words)}" for words in noted)
    yield from [""] if noted else []
