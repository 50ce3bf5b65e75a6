"""What the controllers' quorum can lose under some faults, and what would prevent it.

Who loses the metadata log loses every topic: this is the question of `ask --controllers`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from checker.core.amounts import counted
from checker.core.search.allowance import Allowance
from checker.core.traces.trace import Trace
from checker.kafka.guarantees.controllers import FAULTS, RELEASES, SIZES, Controllers
from checker.kafka.guarantees.kafka_keys import LEVEL
from checker.kafka.guarantees.text import found_of, listed, no_loss, steps_of
from checker.kafka.guarantees.tiers import SEVERAL, Change, Tier, known_bugs
from checker.kafka.guarantees.verdicts import is_safe, judged_cells, trace_of
from checker.lab.experiments.choices import Choice
from checker.lab.experiments.matrix import Cell, Column
from checker.lab.explanations.remedies import fix_words
from checker.telling.report.paragraphs import paragraphs
from model.kraft.bounds import NODES
from model.kraft.settings import KRaftSettings
from model.language.declare.history import version_of
from model.language.declare.settings import as_text, describe
from model.language.errors import UsageError, unknown_name

COLUMNS = (
    Column(
        "committed metadata", ("committed_records_stay", "leaders_have_what_is_committed"), "lost",
        {}, {},
    ),
    Column("one leader in an epoch", ("one_leader_in_an_epoch",), "two", {}, {}),
    Column(
        "the voter set", ("the_voter_set_is_that_of_the_log", "majorities_meet"), "wrong", {}, {}
    ),
    Column(
        "a controller's process", ("no_truncation_below_the_high_watermark",), "ends", {}, {}
    ),
)  # fmt: skip


@dataclass(frozen=True)
class QuorumAnswer:
    """What the quorum loses; true where nothing is lost in any state within the bounds.

    `changes` are those with which nothing is lost, the cheapest first; `all_tried` is false if
    there was no time for every one. `traces` are by the property that they break.
    """

    controllers: Controllers
    faults: str
    choice: Choice
    cells: tuple[Cell, ...]
    changes: tuple[Change, ...]
    all_tried: bool
    seconds: float
    traces: Mapping[str, Trace]
    files: dict[str, Path] = field(default_factory=dict)

    @property
    def lost(self) -> tuple[Cell, ...]:
        """What is lost, in the order of the columns."""
        return tuple(cell for cell in self.cells if cell.is_violated)

    @property
    def is_lossy(self) -> bool:
        """Something is lost."""
        return bool(self.lost)

    @property
    def is_decided(self) -> bool:
        """Of all it is known whether it is lost within the bounds."""
        return all(cell.is_violated or is_safe(cell) for cell in self.cells)

    @property
    def parts(self) -> tuple[QuorumAnswer]:
        """What has traces: it is one part."""
        return (self,)

    def data(self) -> dict[str, Any]:
        """The answer as plain data, for JSON."""
        return _data(self)

    def __bool__(self) -> bool:
        return not self.is_lossy and self.is_decided

    def text(self, width: int) -> str:
        """All of it in lines of the width."""
        return paragraphs([_asked(self), _rows(self), _story(self), _prevented(self),
                           _verdict(self)], width)  # fmt: skip

    def __str__(self) -> str:
        return self.text(80)


def answer(
    controllers: Controllers,
    numbers: Mapping[str, int],
    budget: Allowance,
    on_search: Callable[[str], None] = lambda _: None,
) -> QuorumAnswer:
    """Search what faults can do to the quorum, within sizes, and what would prevent it.

    `UsageError` for a fault or size that there is not, and where no fault is named.
    """
    for name in numbers:
        if name not in (*FAULTS, *SIZES):
            raise unknown_name("fault of controllers", name, (*FAULTS, *SIZES))
    named = [f"{name.replace('_', ' ')} {numbers[name]}" for name in FAULTS if numbers.get(name)]
    words = ", ".join(named)
    if not words:
        raise UsageError("name what may happen: such as --power-losses 1, --disk-losses 1")
    seconds, choice = budget.seconds, controllers.choice(numbers)
    on_search("what is lost")
    cells = judged_cells(choice, COLUMNS, budget)
    lost = [cell for cell in cells if cell.is_violated]
    safe: list[Change] = []
    all_tried = True
    for change in _changes(controllers, choice) if lost else ():
        if any(known.tier is change.tier and change.tier not in SEVERAL for known in safe):
            continue  # the nearest release, or one of the fixes, is enough
        if not budget.left:
            all_tried = False
            break
        on_search(change.words)
        if all(is_safe(cell) for cell in judged_cells(change.choice, COLUMNS, budget)):
            safe.append(change)
    traces = {cell.found["property"]: trace_of(cell) for cell in lost}
    cheapest = tuple(sorted(safe, key=lambda change: change.tier))
    return QuorumAnswer(
        controllers, words, choice, cells, cheapest, all_tried, seconds, traces
    )  # fmt: skip


def _changes(controllers: Controllers, choice: Choice) -> Iterator[Change]:
    """What there is to try; last the search that takes longest, of more controllers."""
    had = as_text(choice.model.settings)
    if had[LEVEL] == "0" and version_of(controllers.release) >= version_of("3.9"):
        other = choice.with_settings({LEVEL: "1"})
        bugs = known_bugs(KRaftSettings, LEVEL, as_text(other.model.settings))
        yield Change(f"{LEVEL}=1", Tier.FEATURE, other, bugs.words)
    later = list(RELEASES.values())
    for preset in later[later.index(controllers.preset) + 1 :]:
        words = f"upgrade to {preset.partition('-')[2]}"
        yield Change(words, Tier.UPGRADE, replace(choice, preset=preset))
    infos = describe(KRaftSettings)
    missing = {n: info.fix for n, info in infos.items() if info.fix and had[n] != info.fix}
    for name, value in missing.items():
        yield _fix(choice, {name: value})
    if len(missing) > 1:
        yield _fix(choice, missing)
    if (more := controllers.nodes + 2) <= min(5, NODES.maximum):
        bounds = {**choice.bounds, "nodes": more}
        yield Change(counted(more, "controller"), Tier.MACHINES, replace(choice, bounds=bounds))


def _fix(choice: Choice, rules: Mapping[str, str]) -> Change:
    """A fix that no release has, or several at once."""
    infos = describe(KRaftSettings)
    about = ", ".join(f"{name}={value}" for name, value in rules.items())
    words = fix_words([infos[name] for name in rules])
    return Change(words, Tier.UNRELEASED, choice.with_settings(rules), f"in the model {about}")


# --- as text -------------------------------------------------------------------------------------


def _asked(found: QuorumAnswer) -> Iterator[str]:
    yield f"{found.controllers.words}: {found.faults}"
    yield from (f"  {line}" for line in found.controllers.read)
    sizes = found.choice.model.bounds
    yield (
        f"within {counted(sizes['appends'], 'record')} of metadata, "
        f"{counted(sizes['epochs'], 'leader epoch')}, logs of {sizes['log_size']}"
    )


def _rows(found: QuorumAnswer) -> Iterator[str]:
    yield "what can be lost"
    for cell in found.cells:
        yield found_of(cell)
        name = cell.found["property"] if cell.is_violated else ""
        if name in found.files:
            yield f"    {found.files[name]}"


def _story(found: QuorumAnswer) -> Iterator[str]:
    if not found.lost:
        return
    first = found.lost[0]
    yield f"how: {first.column.name}"
    yield from steps_of(found.traces[first.found["property"]])


def _prevented(found: QuorumAnswer) -> Iterator[str]:
    if not found.lost:
        return
    rest = "" if found.all_tried else " (time ran out before all were tried)"
    yield from listed([(change.tier, change.line) for change in found.changes], rest)


def _verdict(found: QuorumAnswer) -> Iterator[str]:
    if found.lost:
        yield f"lost: {', '.join(cell.column.name for cell in found.lost)}"
    else:
        yield no_loss(found.is_decided, found.seconds)


# --- for programs --------------------------------------------------------------------------------


def _data(found: QuorumAnswer) -> dict[str, Any]:
    return {
        "release": found.controllers.release,
        "preset": found.controllers.preset,
        "controllers": found.controllers.nodes,
        "read": list(found.controllers.read),
        "faults": found.faults,
        "explored": found.choice.arguments,
        "bounds": dict(found.choice.model.bounds),
        "settings": as_text(found.choice.model.settings),
        "losses": [
            {
                "about": cell.column.name,
                "properties": list(cell.column.properties),
                "verdict": None if cell.result is None else cell.found["verdict"],
                "words": cell.words,
                "depth": cell.found["depth"] if cell.is_violated else None,
                "steps": list(cell.found["steps"]) if cell.is_violated else [],
                "trace": _file_of(found, cell),
            }
            for cell in found.cells
        ],
        "changes": [
            {
                "change": each.words,
                "tier": each.tier.name.lower(),
                "about": each.about,
                "explored": each.choice.arguments,
            }
            for each in found.changes
        ],
        "all_tried": found.all_tried,
        "seconds": found.seconds,
        "lossy": found.is_lossy,
        "decided": found.is_decided,
    }


def _file_of(found: QuorumAnswer, cell: Cell) -> str | None:
    file = found.files.get(cell.found["property"]) if cell.is_violated else None
    return None if file is None else str(file)
