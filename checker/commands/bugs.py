"""What `list` says of a bug: by its number, or its finding's, all that there is of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from checker.core.files import COUNTEREXAMPLES
from checker.lab.catalogue import Bug, bugs_called

if TYPE_CHECKING:
    from checker.commands.outputs.graphs import ListedBug


def bugs_as_data(number: str) -> list[ListedBug]:
    """The bugs of that number; `UsageError` if there is none."""
    return [_as_data(bug) for bug in bugs_called(number)]


def _as_data(bug: Bug) -> ListedBug:
    from checker.kafka.affected.judge import every_row
    from checker.kafka.cluster.schedule import easiest, every_schedule
    from checker.kafka.releases.patch import fixes

    page = bug.page()
    rows = [row for row in every_row() if bug in (row.bug, *row.more)]
    schedules = [s for s in every_schedule() if bug.finding and s.finding == bug.finding]
    own = {name: fix for name, fix in fixes().items() if bug.finding and name[:4] == bug.finding}
    return {
        "number": bug.number,
        "finding": bug.finding or None,
        "model": bug.model,
        "source": bug.source,
        "words": bug.words,
        "note": bug.note or None,
        "releases": rows[0].span.words if rows else None,
        "likely": rows[0].judged.likely.value if rows else None,
        "today": rows[0].today if rows else None,
        "page": None if page is None else page.relative_to(COUNTEREXAMPLES.parent).as_posix(),
        "cases": [case.name for case in bug.cases()],
        "schedules": [schedule.name for schedule in schedules],
        "shown_by": easiest(schedules).shown_by if schedules else None,
        "fixes": {
            name: f"{fix.setting}={fix.value}" if fix.setting else "" for name, fix in own.items()
        },
    }


def bug_lines(bug: ListedBug) -> Iterator[tuple[str, str]]:
    """A name and a text each: what it is, then the commands that show it."""
    from checker.kafka.affected.text import plain

    yield "what", bug["words"]
    yield "source", bug["source"]
    if bug["releases"]:
        yield "releases", bug["releases"]
        yield "likely", bug["likely"] or ""
        yield "today", plain(bug["today"] or "")
    if bug["page"]:
        yield "page", bug["page"]
    if bug["note"]:
        yield "note", bug["note"]
    for case in bug["cases"]:
        yield "case", f"highwater explain {case}"
    if bug["shown_by"]:
        yield "shown by", bug["shown_by"]
    for schedule in bug["schedules"]:
        yield "on a cluster", f"highwater reproduce {bug['finding']} --schedule {schedule}"
    if bug["finding"]:
        yield "ticket", f"highwater upstream {bug['finding']} -o DIR"
    for name, setting in bug["fixes"].items():
        case = next(iter(bug["cases"]), "CASE")
        if setting:
            yield "fix", f"{setting} in the model; highwater conform {case} --fix {name}"
        else:  # the broker model has no step that it changes
            yield "fix", f"highwater reproduce {bug['finding']} --patched ({name})"
