"""Where rules come from: what an action or a setting is in Kafka, or in the specification."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Source:
    """The origin of one action or setting.

    `place` is a method of Kafka, or an operator of the specification. `since` is the first release
    with the rule, in whichever class it was then; empty for the specification, and for what no
    release has. `issues` are proposals, issues and findings about it. `settings` switch an action
    on and off, or choose between its variants.
    """

    place: str
    since: str = ""
    issues: str = ""
    settings: tuple[str, ...] = ()


def rows_in(table: str) -> Iterator[list[str]]:
    """The cells of the rows below a head; what is indented belongs to the row above."""
    _, *rows = re.sub("\n +", " ", table).strip().splitlines()
    for row in rows:
        yield [cell.strip() for cell in row.split("|")]


def sources_in(table: str) -> Iterator[tuple[str, Source]]:
    """Names and sources, as the rows of a table say.

    The columns are name, place, first release, issues, settings; the last ones may be missing.
    """
    for name, place, *more in rows_in(table):
        since, issues, settings = [*more, "", "", ""][:3]
        yield name, Source(place, since, issues, tuple(filter(None, settings.split(", "))))
