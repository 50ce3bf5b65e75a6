"""Schedules: short files, each the story of a run, one step a line.

A schedule is a TOML file: `title`, `finding` (the number of its page) and perhaps `fix` (its name,
if the finding has several), `story`, what the `control` leaves out in words, perhaps what an
operator does with the `workaround` of the finding's page, `brokers`,
`controllers` (their node ids, if metadata may be lost: the first founds the quorum),
`voters_configured` (true if all of them are voters from the start, in `controller.quorum.voters`),
`log_dirs`, `tier` (true if the cluster has a remote store), `seconds` (how long a step may wait),
a table `settings` of all nodes (`{node}` in a
value is the node's number), a table `features` (levels that the cluster begins with, where they are
not the release's own), and `steps`:

    send x to t                    an act: done when the next step begins
    until x is acknowledged        a condition: waited for; no verdict if it does not come to pass
    promise 1 has started          the same, but the cluster is stuck if it does not
    perhaps t is led by 0          waited for, and gone on either way: releases differ
    - hold the metadata of 0       left out in the control
    + until 0 leads t in epoch 1   in the control only
    w- start 1, 2                  left out with the workaround
    w+ start 2                     with the workaround only
    -- release the metadata of 0   left out in the control, and with the workaround

A line may end in `within 30 s`. All that a control, or a run with the workaround, differs in is
thus marked, as in a patch.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib.resources import files
from pathlib import Path
from typing import Any

from checker.core.files import parsed, table
from checker.kafka.cluster.frames import CONTROLLER
from checker.kafka.cluster.quorum import Quorum
from checker.kafka.cluster.steps import ACTS, CONDITIONS, threads
from checker.kafka.cluster.vocabulary import Meaning, Reach, Sentence, meaning_of
from checker.lab.catalogue import number_of_finding
from model.language.errors import UsageError, unknown_name

FOLDER = Path(str(files("checker.kafka.cluster").joinpath("schedules")))
KEYS = {
    "title", "finding", "fix", "story", "control", "workaround", "brokers", "controllers",
    "voters_configured", "log_dirs", "tier", "seconds", "settings", "features", "steps",
}  # fmt: skip
SECONDS = 90.0  # how long a step may wait, if the schedule does not say
_MARK, _KIND = r"(?:(w[+-]|--|[+-]) )?", r"(?:(until|promise|perhaps) )?"
_LINE = re.compile(_MARK + _KIND + r"(.+?)(?: within (\d+) s)?")


class Kind(StrEnum):
    """What a step does."""

    ACT = ""
    UNTIL = "until"
    PROMISE = "promise"
    PERHAPS = "perhaps"


class Way(StrEnum):
    """How a schedule is played."""

    AS_IT_IS = ""
    CONTROL = "control"
    WORKAROUND = "workaround"


_PLAYED: Mapping[str, frozenset[Way]] = {
    "": frozenset(Way),
    "-": frozenset({Way.AS_IT_IS, Way.WORKAROUND}),
    "+": frozenset({Way.CONTROL}),
    "w-": frozenset({Way.AS_IT_IS, Way.CONTROL}),
    "w+": frozenset({Way.WORKAROUND}),
    "--": frozenset({Way.AS_IT_IS}),
}
"""In which ways a line is played, by its mark."""


@dataclass(frozen=True)
class Step:
    """One line. `only` is its mark, empty if it is played in every way."""

    text: str
    kind: Kind
    meaning: Meaning
    seconds: float
    only: str

    @property
    def marks_control(self) -> bool:
        """The schedule and its control differ in it."""
        return (Way.AS_IT_IS in _PLAYED[self.only]) != (Way.CONTROL in _PLAYED[self.only])

    @property
    def words(self) -> str:
        """The line as it stands, without the mark."""
        return f"{self.kind} {self.text}".strip()


@dataclass(frozen=True)
class Schedule:
    """A story to be played. `name` is the file's, without the finding's number.

    `workaround` is empty where no run with one is known.
    """

    name: str
    title: str
    finding: str
    fix: str
    story: str
    control: str
    workaround: str
    brokers: int
    quorum: Quorum
    log_dirs: int
    has_tier: bool
    settings: Mapping[str, str]
    features: Mapping[str, int]
    every_step: tuple[Step, ...]

    @property
    def stalled(self) -> frozenset[int]:
        """The nodes of which a thread stalls."""
        return frozenset(
            step.meaning.arguments["broker"]
            for step in self.every_step
            if step.meaning.sentence.function is threads.stall
        )

    @property
    def reach(self) -> Reach:
        """The most that one of its acts asks."""
        return max(act.reach for act in self._acts())

    @property
    def shown_by(self) -> str:
        """Which of its acts are no ordinary operation, as pages say it."""
        acts = sorted((act for act in self._acts() if act.reach), key=lambda act: -act.reach)
        asked: dict[Reach, list[str]] = {}
        for act in acts:
            asked.setdefault(act.reach, []).append(act.example)
        texts = [f"{r.words}: {', '.join(dict.fromkeys(said))}" for r, said in asked.items()]
        return "; ".join(texts) or Reach.OPERATION.words

    def _acts(self) -> list[Sentence]:
        return [step.meaning.sentence for step in self.steps() if step.kind is Kind.ACT]

    def steps(self, way: Way = Way.AS_IT_IS) -> tuple[Step, ...]:
        """Those of the schedule, of its control, or of it with the workaround."""
        return tuple(step for step in self.every_step if way in _PLAYED[step.only])


def read_schedule(path: Path) -> Schedule:
    """The schedule in a file. `UsageError` in one line, with the line's number, if it is none."""
    with parsed(path) as data:
        return _schedule(path, data)


def _schedule(path: Path, data: Mapping[str, Any]) -> Schedule:
    for key in data.keys() - KEYS:
        raise unknown_name("key of a schedule", key, KEYS)
    finding = str(data["finding"])
    seconds = float(data.get("seconds", SECONDS))
    steps = _steps(data["steps"], seconds)
    if not data["control"] or not any(step.marks_control for step in steps):
        raise UsageError("a control differs by at least one step, marked - or +, and says in words")
    workaround = str(data.get("workaround", "")).strip()
    if bool(workaround) != any("w" in step.only for step in steps):
        raise UsageError("a workaround differs by a step, marked w- or w+, and says in words")
    return Schedule(
        path.stem.removeprefix(f"{finding}-"),
        data["title"], finding, str(data.get("fix", finding)),
        data["story"].strip(), data["control"].strip(), workaround,
        int(data.get("brokers", 3)), _quorum(data), int(data.get("log_dirs", 1)),
        bool(data.get("tier", False)),
        {str(key): str(value) for key, value in table(data, "settings", {}).items()},
        {str(key): int(value) for key, value in table(data, "features", {}).items()}, steps,
    )  # fmt: skip


def _quorum(data: Mapping[str, Any]) -> Quorum:
    nodes = tuple(int(node) for node in data.get("controllers", (CONTROLLER,)))
    if not nodes or len(set(nodes)) < len(nodes) or min(nodes) < CONTROLLER:
        told = ", ".join(map(str, nodes)) or "none"
        raise UsageError(
            f"controllers are different node ids, one or several, from {CONTROLLER} on, not {told}"
        )
    return Quorum(nodes, bool(data.get("voters_configured", False)))


def _steps(text: str, seconds: float) -> tuple[Step, ...]:
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        words = " ".join(re.sub(r"(^|\s)#.*", "", line).split())
        if words:
            try:
                found.append(step_of(words, seconds))
            except UsageError as error:
                raise UsageError(f"step line {number}: {error}") from error
    return tuple(found)


def step_of(line: str, seconds: float = SECONDS) -> Step:
    """The step that a line is. `UsageError` if it is none."""
    match = _LINE.fullmatch(line)
    assert match is not None  # any text of one line does
    mark, word, text, limit = match.groups()
    kind = Kind(word or "")
    meaning = meaning_of(text, CONDITIONS if kind else ACTS)
    return Step(text, kind, meaning, float(limit or seconds), mark or "")


def every_schedule() -> list[Schedule]:
    """All there are, by finding and name."""
    return [read_schedule(path) for path in sorted(FOLDER.glob("*.toml"))]


def schedules_of(finding: str) -> list[Schedule]:
    """Those of a finding, by its page's number or the catalogue's, the first one first.

    `UsageError` if there is none.
    """
    known = every_schedule()
    number = number_of_finding(finding, {schedule.finding for schedule in known})
    return [schedule for schedule in known if schedule.finding == number]


def easiest(known: Iterable[Schedule]) -> Schedule:
    """Which of a finding's schedules asks least; of several, the first."""
    return min(known, key=lambda schedule: schedule.reach)


def schedule_named(name: str | None, known: list[Schedule]) -> Schedule:
    """One of a finding's schedules: by its name, else the first. `UsageError` if there is none."""
    if name is None:
        return known[0]
    by_name = {schedule.name: schedule for schedule in known}
    if name not in by_name:
        raise unknown_name(f"schedule of {known[0].finding}", name, by_name)
    return by_name[name]


def with_workaround(name: str | None, known: list[Schedule]) -> Schedule:
    """As `schedule_named`, of those that know a workaround. `UsageError` if none does."""
    having = [schedule for schedule in known if schedule.workaround]
    if not having:
        every = sorted({s.finding for s in every_schedule() if s.workaround})
        raise UsageError(
            f"no schedule of {known[0].finding} has a workaround: valid are {', '.join(every)}"
        )
    return schedule_named(name, having)
