"""The catalogue: each bug once, and by one number everything that there is of it.

`counterexamples/catalogue.toml` says of each bug what went wrong, where it is published and which
finding it is. Its cases are the folders that begin with its number; schedules and patches begin
with the number of its finding. `docs/catalogue.md` has the table that is made of all this.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

from checker.core.files import COUNTEREXAMPLES
from model.language.errors import UsageError, unknown_name

FILE = "catalogue.toml"
_HEAD = "| no. | source | what went wrong | found here by |\n|---:|---|---|---|"


class Effect(StrEnum):
    """What a bug does to who runs Kafka, the worst first."""

    METADATA = "metadata"  # committed metadata is lost, and topics with it
    LOST = "lost"  # acknowledged records are lost
    MISREAD = "misread"  # consumers read what was not committed, or skip records
    REPEATED = "repeated"  # records are written or processed twice, or out of order
    BLOCKED = "blocked"  # a partition, a broker, a controller or a client is stuck


class Likely(StrEnum):
    """How likely it is in practice where its conditions hold, the likeliest first."""

    ORDINARY = "ordinary"  # everyday operation does it
    OCCASIONAL = "occasional"  # it takes a fault or a step that most clusters see in a year
    RARE = "rare"  # it takes one at a bad moment, or several of them
    VERY_RARE = "very rare"  # it takes several within seconds or less


@dataclass(frozen=True)
class Judgement:
    """Whom a bug concerns, how likely it is and why, what to do today and what to watch.

    It is in the releases in which the setting `rule` of its model has one of the values `bad` (by
    default any but the one that mends it), or from `since` on, until those of `fixed`, one a line.
    Before `first`, and after `last` or the newest that was looked at, nobody looked. `needs` are
    names of conditions (`checker/kafka/affected/conditions.py`). `of_clients`: the release that
    counts is that of producers or consumers. `today` and `watch` are Markdown. `tried` is how often
    `today` kept on which release, or how else it was tried; empty if it was not. `affected` and its
    page take it from here; what a finding's page says of it is compared with this by a test.
    """

    effect: Effect
    likely: Likely
    why: str
    rule: str = ""
    bad: tuple[str, ...] = ()
    since: str = ""
    first: str = ""
    fixed: tuple[str, ...] = ()
    last: str = ""
    needs: tuple[str, ...] = ()
    of_clients: bool = False
    today: str = ""
    tried: str = ""
    watch: str = ""


@dataclass(frozen=True)
class Bug:
    """A row. `number` is 0 for what came without one; `finding` is its page's number, or empty.

    With a `leaderless` one a partition may have no leader though its replicas are up. One of
    `judged`, `judged_with` (the bug that is judged for both) and `not_judged` (why) is there.
    """

    number: int
    model: str
    source: str
    words: str
    finding: str = ""
    note: str = ""
    leaderless: bool = False
    judged: Judgement | None = None
    judged_with: int = 0
    not_judged: str = ""

    @property
    def name(self) -> str:
        """What people call it: its finding's number, its own, or where it is published."""
        return self.finding or str(self.number or self.source)

    def cases(self, root: Path = COUNTEREXAMPLES) -> list[Path]:
        """The folders of its stored counterexamples, by name."""
        return sorted((root / self.model).glob(f"{self.number:02}-*/")) if self.number else []

    def page(self, root: Path = COUNTEREXAMPLES) -> Path | None:
        """The page of its finding; `None` where it is published, or where no pages are."""
        if not self.finding:
            return None
        return next((root.parent / "docs" / "findings").glob(f"{self.finding}-*.md"), None)


@cache
def read_catalogue(root: Path = COUNTEREXAMPLES) -> tuple[Bug, ...]:
    """Every bug, in the order of the file; none where it was not installed."""
    if not (root / FILE).is_file():
        return ()
    entries = tomllib.loads((root / FILE).read_text(encoding="utf-8"))["bug"]
    return tuple(_bug(entry) for entry in entries)


def _bug(entry: dict[str, Any]) -> Bug:
    judged = entry.get("judged")
    if judged is not None:
        told: dict[str, Any] = {
            k: tuple(v) if isinstance(v, list) else v for k, v in judged.items()
        }
        told |= {"effect": Effect(judged["effect"]), "likely": Likely(judged["likely"])}
        entry = entry | {"judged": Judgement(**told)}
    return Bug(**({"number": 0} | entry))


def bugs_called(number: str) -> list[Bug]:
    """The bugs of a finding's four-digit number, or the one of the catalogue's number.

    `UsageError` if there is none.
    """
    known = read_catalogue()
    found = [b for b in known if number in (b.finding, str(b.number)) and number not in ("", "0")]
    if not found and len(number) > 3:
        raise unknown_name("finding", number, {bug.finding for bug in known if bug.finding})
    if not found:
        what = f"no bug of the catalogue has the number {number!r}"
        raise UsageError(f"{what}: docs/catalogue.md lists them")
    return found


def number_of_finding(called: str, known: Iterable[str]) -> str:
    """The known finding of that four-digit number, or of that number of the catalogue.

    `UsageError` if there is none.
    """
    numbers = set(known)
    pages = {called} | {bug.finding for bug in read_catalogue() if str(bug.number) == called}
    if not pages & numbers:
        raise unknown_name("finding", called, numbers)
    return min(pages & numbers)


def table(bugs: Iterable[Bug], root: Path = COUNTEREXAMPLES) -> str:
    """The rows as Markdown, with links as seen from `docs`."""
    lines = [_HEAD]
    for bug in bugs:
        number = str(bug.number or "")
        lines.append(f"| {number} | {bug.source} | {bug.words} | {_found(bug, root)} |")
    return "\n".join(lines) + "\n"


def _found(bug: Bug, root: Path) -> str:
    """The cell: cases, the finding's page, and what else is to be said."""
    cases = [
        (_label(path), f"../counterexamples/{bug.model}/{path.name}/") for path in bug.cases(root)
    ]
    links = [f"[{label if len(cases) > 1 else 'case'}]({to})" for label, to in cases]
    parts = ["cases: " * (len(links) > 1) + ", ".join(links)] if links else []
    page = bug.page(root)
    parts += [f"[finding {bug.finding}](findings/{page.name})"] if page else []
    parts += [bug.note] if bug.note else []
    return "; ".join(parts)


def _label(case: Path) -> str:
    return case.name.partition("-")[2].replace("_", " ")


def with_tables(page: str, root: Path = COUNTEREXAMPLES) -> str:
    """The page with the table of each model put between its two markers anew."""
    for model in dict.fromkeys(bug.model for bug in read_catalogue(root)):
        begin, end = f"<!-- catalogue {model}: begin -->\n", f"<!-- catalogue {model}: end -->\n"
        before, after = page.split(begin, maxsplit=1)[0], page.split(end)[1]
        rows = table([bug for bug in read_catalogue(root) if bug.model == model], root)
        page = f"{before}{begin}{rows}{end}{after}"
    return page
