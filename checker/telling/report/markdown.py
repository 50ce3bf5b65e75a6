"""Traces as Markdown, for stored counterexamples and for the documentation."""

from __future__ import annotations

import re

from checker.core.traces.trace import Trace
from checker.telling.report.lanes import Lane
from checker.telling.report.paragraphs import markdown_lines
from checker.telling.report.story import NOT_NEEDED, Moment, Story, tell


def render_markdown(trace: Trace) -> str:
    """The trace as a Markdown document."""
    story = tell(trace)
    lines = [f"# {escaped(story.title)}", ""]
    for label, words in story.header:
        lines += markdown_lines(f"**{label}**: {escaped(words)}", "- ")
    if story.legend:
        sentences = (f"{line[0].upper()}{line[1:]}." for line in story.legend)
        lines += ["", *markdown_lines(escaped(" ".join(sentences)))]
    for moment in story.moments:
        if moment in story.circle[:1]:
            lines += ["", "**From here on round and round:**"]
        lines += ["", *_moment(story, moment)]
    last = story.moments[-1]
    if story.is_last(last):
        lines += ["", "## Final state", "", *_state(story, last)]
    if story.ending:
        lines += ["", "## What it shows"]
    for words in story.ending:
        lines += ["", *markdown_lines(escaped(words))]
    return "\n".join(lines).rstrip() + "\n"


def _moment(story: Story, moment: Moment) -> list[str]:
    title = moment.words[0].upper() + moment.words[1:] if moment.number == 0 else moment.words
    mark = f" {NOT_NEEDED}" if moment.needless else ""
    heading = f"## {moment.number}. {escaped(title)}{mark}"
    if moment.number == 0:
        return [heading, "", *_state(story, moment)]
    lines = [heading, ""]
    for owner, changes in moment.changes_by_owner.items():
        words = ", ".join(change.words("→") for change in changes)
        lines += markdown_lines(f"{escaped(owner)}: {escaped(words)}", "- ")
    if not moment.changes:
        lines.append("- nothing changes")
    lanes = [] if story.is_last(moment) else _block(story, moment.changed_lanes)
    return [*lines, *([""] if lanes else []), *lanes]


def _state(story: Story, moment: Moment) -> list[str]:
    facts = [
        line
        for fact in moment.facts
        for line in markdown_lines(f"{escaped(fact.owner)}: {escaped(fact.words)}", "- ")
    ]
    lanes = _block(story, moment.lanes)
    return [*facts, *([""] if facts and lanes else []), *lanes]


def _block(story: Story, lanes: tuple[Lane, ...]) -> list[str]:
    widths = story.lane_widths
    return ["```text", *(lane.line(widths) for lane in lanes), "```"] if lanes else []


def escaped(words: str) -> str:
    """Words with what Markdown would take for markup escaped; `_` is none within a word."""
    return re.sub(r"([\\`*<>\[\]]|(?<!\w)_|_(?!\w))", r"\\\1", words)
