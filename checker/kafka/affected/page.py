"""The table of `docs/affected.md`: whom each bug concerns, and what to do today."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checker.kafka.affected.judge import Row, every_row
from checker.lab.catalogue import Bug
from checker.telling.report.pages import with_part

BEGIN, END = "<!-- affected: made by `make docs` -->", "<!-- end of affected -->"
_HEAD = "| bug | effect | what goes wrong | releases | needs | likely | today |"


def with_table(page: str) -> str:
    """The page with the table put between its marks anew; `UsageError` without those."""
    return with_part(page, BEGIN, END, "\n".join(["", _HEAD, "|---" * 7 + "|", *_rows(), "", ""]))


def _rows() -> Iterator[str]:
    for row in every_row():
        cells = (
            _links(row), row.judged.effect, row.words, row.releases, ", ".join(row.needs),
            f"{row.judged.likely}: {row.judged.why}", _today(row),
        )  # fmt: skip
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _today(row: Row) -> str:
    return f"{row.today} (tried: {row.tried})" if row.judged.tried else row.today


def _links(row: Row) -> str:
    """A finding by its page; the others by their numbers, which the catalogue has."""
    page = row.bug.page()
    if page is not None:
        return f"[{row.bug.finding}](findings/{page.name})"
    return ", ".join(_name(bug) for bug in (row.bug, *row.more))


def _name(bug: Bug) -> str:
    issues = ", ".join(re.findall(r"(?:KAFKA|KIP)-\d+", bug.source))
    return f"{bug.number} ({issues})" if bug.number and issues else bug.name
