"""Of each bug whether it concerns a cluster: yes, no and why, or what to look at to know."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from checker.kafka.affected.conditions import CONDITIONS, KEYS, Held
from checker.kafka.affected.facts import Facts, Running, facts_of
from checker.kafka.affected.spans import Span, span_of
from checker.kafka.guarantees.releases import Mode, named_mode
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
    """What is said of one bug. `because`: what says so; `look`: where to look to know.

    `more` are the other bugs of the same judgement.
    """

    bug: Bug
    judged: Judgement
    span: Span
    more: tuple[Bug, ...] = ()
    concern: Concern = Concern.AFFECTED
    because: tuple[str, ...] = ()
    look: tuple[str, ...] = ()

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
    def releases(self) -> str:
        """The releases with it, in words."""
        return f"clients of {self.span.words}" if self.judged.of_clients else self.span.words

    @property
    def today(self) -> str:
        """What to do today."""
        return self.judged.today or f"upgrade to {self.span.fixed_words.replace(' and ', ' or ')}"

    @property
    def tried(self) -> str:
        """Whether that was tried, for a finding: what is published others have tried."""
        return self.judged.tried or ("no" if self.bug.finding else "")


def every_row() -> list[Row]:
    """Every bug that is judged, the worst first: by its effect, then by how likely it is.

    Of those alike the findings come first, and of the others the latest number.
    """
    known = read_catalogue()
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
    released = _in_release(row, facts)
    if released.is_so is False:
        return replace(row, concern=Concern.UNAFFECTED, because=(released.because,))
    found = {name: CONDITIONS[name].holds(facts) for name in row.judged.needs}
    missing = [f"needs {_said(n, h)}" for n, h in found.items() if h.is_so is False]
    if missing:
        return replace(row, concern=Concern.UNAFFECTED, because=tuple(missing))
    looks = [CONDITIONS[name].look for name, held in found.items() if held.is_so is None]
    has = [_said(name, held) for name, held in found.items() if held.is_so and held.because]
    is_known = released.is_so and not looks
    return replace(
        row, concern=Concern.AFFECTED if is_known else Concern.UNKNOWN,
        because=tuple(filter(None, (released.because, *has))),
        look=tuple(dict.fromkeys(filter(None, (released.look, *looks)))),
    )  # fmt: skip


def _said(name: str, held: Held) -> str:
    """A condition with what says that it holds, or does not; that alone, if it names the key."""
    words, because = CONDITIONS[name].words, held.because
    key = words.strip("`").partition("`")[0].partition("=")[0]
    return because if held.is_so and because.startswith(f"{key}=") else f"{words}: {because}"


@dataclass(frozen=True)
class _Released(Held):
    """Whether a release that runs has a bug; `look`: where to look to know."""

    look: str = ""


def _in_release(row: Row, facts: Facts) -> _Released:
    span = row.span
    if row.judged.of_clients and not facts.clients_told:
        known = {span.holds(version, Mode.KRAFT) for version in span.turns()} == {True}
        return _Released(True) if known else _Released(None, row.releases, _CLIENTS)
    found = [(run, _of_run(span, run, facts.mode)) for run in facts.running]
    having = [run for run, held in found if held == [{True}]]
    if having:
        return _Released(True, ", ".join(f"{run.who} of {run.asked}" for run in having if run.who))
    if all(held == [{False}] for _, held in found):
        return _Released(False, span.why_not(facts.running[-1].version))
    return next(_open(span, run, held) for run, held in found if held != [{False}])


def _of_run(span: Span, run: Running, mode: Mode | None) -> list[set[bool | None]]:
    """What may be so of a release: of each mode that it may have, or of both, where they agree.

    There are several answers where nobody said which release of a line it is.
    """
    versions = span.turns(run.version) if run.is_line else (run.version,)
    modes = list(Mode) if mode is None else [mode]
    held = [{span.holds(version, m) for version in versions} for m in modes]
    return held[:1] if held[0] == held[-1] else held


def _open(span: Span, run: Running, held: list[set[bool | None]]) -> _Released:
    """Why it is not known whether a release has it."""
    if any(len(each) > 1 for each in held):
        why = f"releases with it: {span.words}; which one of {run.asked} runs is not known"
        return _Released(None, why, _PATCH)
    if any(None in each for each in held):
        first = f"{span.first} to " if span.first else "up to "
        return _Released(None, f"only releases {first}{span.last} were looked at")
    having = next(mode for mode, each in zip(Mode, held, strict=True) if each == {True})
    return _Released(None, f"only with {named_mode(having)}", CONDITIONS["kraft"].look)


_CLIENTS = "`clientSoftwareVersion` of the brokers' `kafka.server:type=socket-server-metrics`"
_PATCH = '"Kafka version" in the log of a broker as it starts, and say it by --kafka'


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
    return answered(facts_of(kafka, files, settings, KEYS, mode=mode, topic=topic))


def answered(facts: Facts) -> Answer:
    """Which bugs concern a cluster of which this is known."""
    return Answer(facts, tuple(judged_by(row, facts) for row in every_row()))
