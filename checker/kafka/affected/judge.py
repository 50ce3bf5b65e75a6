"""Of each bug whether it concerns a cluster: yes, no and why, or what to look at to know."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from checker.kafka.affected.conditions import CONDITIONS, KEYS
from checker.kafka.affected.facts import Facts, facts_of
from checker.kafka.affected.spans import Span, span_of
from checker.kafka.guarantees.releases import Mode
from checker.lab.catalogue import Bug, Effect, Judgement, Likely, read_catalogue


class Concern(StrEnum):
    """Whether a bug concerns a cluster."""

    AFFECTED = "affected"
    UNKNOWN = "cannot be told"
    UNAFFECTED = "not affected"


EFFECTS: Mapping[Effect, str] = {
    Effect.METADATA: "committed metadata is lost",
    Effect.LOST: "acknowledged records are lost",
    Effect.MISREAD: "consumers read what was not committed, or skip records",
    Effect.REPEATED: "records are written or processed twice, or out of order",
    Effect.BLOCKED: "a partition, a broker, a controller or a client is stuck",
}


@dataclass(frozen=True)
class Row:
    """What is said of one bug. `because`: why not, or what to look at; empty for an affected one.

    `more` are the other bugs of the same judgement.
    """

    bug: Bug
    judged: Judgement
    span: Span
    more: tuple[Bug, ...] = ()
    concern: Concern = Concern.AFFECTED
    because: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """What goes wrong."""
        return "; ".join(dict.fromkeys(bug.words for bug in (self.bug, *self.more)))

    @property
    def numbers(self) -> str:
        """What people call it: `0004`, or the numbers of the catalogue, `1, 4`."""
        return ", ".join(dict.fromkeys(bug.name for bug in (self.bug, *self.more)))

    @property
    def needs(self) -> tuple[str, ...]:
        """The conditions, in words."""
        return tuple(CONDITIONS[name].words for name in self.judged.needs)

    @property
    def today(self) -> str:
        """What to do today."""
        return self.judged.today or f"upgrade to {self.span.fixed_words.replace(' and ', ' or ')}"

    @property
    def tried(self) -> str:
        """Whether that was tried, for a finding: what is published others have tried."""
        return self.judged.tried or ("no" if self.bug.finding else "")


def every_row(bugs: Iterable[Bug] | None = None) -> list[Row]:
    """Every bug that is judged, the worst first: by its effect, then by how likely it is.

    Of those alike the findings come first, and of the others the latest number.
    """
    known = read_catalogue() if bugs is None else tuple(bugs)
    rows = [
        Row(
            bug, bug.judged, span_of(bug, bug.judged),
            tuple(each for each in known if bug.number and each.judged_with == bug.number),
        )
        for bug in known
        if bug.judged is not None
    ]  # fmt: skip
    effects, likely = list(Effect), list(Likely)
    return sorted(
        rows,
        key=lambda row: (
            effects.index(row.judged.effect), likely.index(row.judged.likely),
            not row.bug.finding, row.bug.finding, -row.bug.number,
        ),
    )  # fmt: skip


def judged_by(row: Row, facts: Facts) -> Row:
    """The row with whether it concerns this cluster."""
    modes = [facts.mode] if facts.mode is not None else list(Mode)
    holds = {row.span.holds(facts.version, mode) for mode in modes}
    if holds == {False}:
        return _with(row, Concern.UNAFFECTED, [row.span.why_not(facts.version)])
    found = {name: CONDITIONS[name].holds(facts) for name in row.judged.needs}
    missing = [
        f"needs {CONDITIONS[name].words}: {held.because}"
        for name, held in found.items()
        if held.is_so is False
    ]
    if missing:
        return _with(row, Concern.UNAFFECTED, missing)
    unsaid = [CONDITIONS[name].look for name, held in found.items() if held.is_so is None]
    if None in holds:
        unsaid.insert(0, _not_looked_at(row.span))
    elif len(holds) > 1:
        unsaid.insert(0, CONDITIONS["kraft"].look)
    unsaid = list(dict.fromkeys(unsaid))
    return _with(row, Concern.UNKNOWN if unsaid else Concern.AFFECTED, unsaid)


def _with(row: Row, concern: Concern, because: list[str]) -> Row:
    return replace(row, concern=concern, because=tuple(because))


def _not_looked_at(span: Span) -> str:
    first = f"{span.first} to " if span.first else "up to "
    return f"only releases {first}{span.last} were looked at"


@dataclass(frozen=True)
class Answer:
    """Of all bugs whether they concern a cluster; true where none does for certain or may."""

    facts: Facts
    rows: tuple[Row, ...]

    def those(self, concern: Concern) -> list[Row]:
        """The rows of one answer, the worst first."""
        return [row for row in self.rows if row.concern is concern]

    def __bool__(self) -> bool:
        return len(self.those(Concern.UNAFFECTED)) == len(self.rows)


def affected(
    kafka: str,
    files: Iterable[Path] = (),
    settings: Mapping[str, str] | None = None,
    *,
    mode: str | None = None,
    topic: str | None = None,
) -> Answer:
    """Which bugs concern the cluster that flags and files describe.

    `UsageError` in one line for a release, a file or a key that there is not.
    """
    facts = facts_of(kafka, files, settings, KEYS, mode=mode, topic=topic)
    return Answer(facts, tuple(judged_by(row, facts) for row in every_row()))
