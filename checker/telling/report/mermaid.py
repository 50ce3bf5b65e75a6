"""Traces as Mermaid sequence diagrams: who acts on whom, with the logs beside."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from checker.core.traces.trace import Trace
from checker.telling.report.lanes import Lane
from checker.telling.report.space_time import SpaceTime
from checker.telling.report.story import Moment, Story, tell


def render_mermaid(trace: Trace) -> str:
    """The trace as the text of a Mermaid sequence diagram, without a fence around it."""
    story, space = tell(trace), SpaceTime(trace.model)
    actors = [space.actors(step) for step in trace.steps]
    names = _participants(story, actors)
    ids = {name: f"p{number}" for number, name in enumerate(names)}
    lines = ["sequenceDiagram", "    autonumber"]
    lines += [f"    participant {ids[name]} as {_plain(name)}" for name in names]
    for moment, acting in zip(story.moments[1:], actors, strict=True):
        if moment in story.circle[:1]:
            lines.append("    loop for ever")
        lines.append(f"    {_message(moment, acting or names[:1], ids)}")
        lines += [f"    {note}" for note in _notes(moment, ids)]
    lines += ["    end"] if story.circle else []
    everyone = ",".join(dict.fromkeys((ids[names[0]], ids[names[-1]])))
    lines += [f"    Note over {everyone}: {_plain(words)}" for words in story.ending]
    return "\n".join(lines) + "\n"


def _participants(story: Story, actors: Iterable[Sequence[str]]) -> list[str]:
    """Those that are not brokers first, such as the controller; at least one."""
    acting = dict.fromkeys(actor for some in actors for actor in some)
    others = [actor for actor in acting if actor not in story.brokers]
    return [*others, *story.brokers] or ["protocol"]


def _message(moment: Moment, actors: Sequence[str], ids: dict[str, str]) -> str:
    return f"{ids[actors[0]]}->>{ids[actors[min(1, len(actors) - 1)]]}: {_plain(moment.words)}"


def _notes(moment: Moment, ids: dict[str, str]) -> list[str]:
    """The lanes that changed; where there are none, the values that did."""
    if moment.changed_lanes:
        return [f"Note over {ids[x.name]}: {_plain(_lane(x))}" for x in moment.changed_lanes]
    return [
        f"Note over {ids[owner]}: {_plain(', '.join(change.words('→') for change in changes))}"
        for owner, changes in moment.changes_by_owner.items()
        if owner in ids
    ]


def _lane(lane: Lane) -> str:
    shown = [lane.role, *lane.columns[2:4], lane.log]
    return ", ".join(words for words in shown if words)


def _plain(words: str) -> str:
    """Words with what Mermaid would take for its own escaped."""
    return re.sub(r"[#;<>]", lambda found: f"#{ord(found.group())};", words)
