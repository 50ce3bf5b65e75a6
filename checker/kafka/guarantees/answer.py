"""The answer to an operator's question, gathered, and as plain data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any

from checker.core.search.allowance import Allowance
from checker.core.traces.trace import Trace
from checker.kafka.guarantees.beyond import Known, known_beyond
from checker.kafka.guarantees.changes import Tried, changes
from checker.kafka.guarantees.cluster import Cluster
from checker.kafka.guarantees.faults import Faults, choice_of
from checker.kafka.guarantees.parts import Part, part_of
from checker.kafka.guarantees.remote import Remote, judge_remote
from checker.kafka.guarantees.text import (
    asked,
    beyond,
    bounds,
    part_lines,
    prevented,
    story,
    verdict,
)
from checker.kafka.guarantees.upgrade import Stage, mixed_words, stages
from checker.kafka.guarantees.verdicts import (
    SECONDS,
    STATES,
    Judged,
    finer_of_the_grid,
    judge_losses,
    judge_stops,
)
from checker.lab.experiments.matrix import Cell
from checker.lab.explanations.explanation import recognised_words
from checker.telling.report.paragraphs import paragraphs
from model.language.declare.settings import as_text
from model.language.errors import LimitError


@dataclass(frozen=True)
class Answer:
    """What a cluster loses under some faults, what stops, and what would prevent the first loss.

    True where nothing is lost in any state within the bounds, and all of these were visited.
    `known` says which entry of the catalogue the first loss is an instance of, if of one.
    `remote` is of a tiered topic; its traces are kept with those of the last part.
    `changes` are those with which nothing is lost, the cheapest first; `all_tried` is false if
    there was no time for every one. `beyond` are stored losses, where none was found here.
    """

    cluster: Cluster
    faults: Faults
    parts: tuple[Part, ...]
    changes: tuple[Tried, ...]
    all_tried: bool
    seconds: float
    mixed: str = ""
    known: str = ""
    beyond: tuple[Known, ...] = ()
    remote: Remote | None = None

    @property
    def traces(self) -> tuple[Trace, ...]:
        """The traces of all losses and stops."""
        return tuple(trace for part in self.parts for trace in part.traces.values())

    @property
    def is_lossy(self) -> bool:
        """Something is lost."""
        return any(part.is_lossy for part in self.parts) or bool(self.remote and self.remote.lost)

    @property
    def is_decided(self) -> bool:
        """Of every loss it is known whether there is one within the bounds."""
        return all(
            judged.is_decided
            for judged in (*(part.judged for part in self.parts), self.remote)
            if judged is not None
        )

    @property
    def remote_lost(self) -> tuple[Cell, ...]:
        """What is lost of remote segments."""
        return self.remote.lost if self.remote is not None else ()

    def __bool__(self) -> bool:
        return not self.is_lossy and self.is_decided

    def text(self, width: int) -> str:
        """All of it in lines of the width."""
        blocks = [asked(self.cluster, self.faults), bounds(self.parts[0], self.mixed)]
        blocks += [part_lines(part) for part in self.parts]
        blocks += [story(self.parts, self.known)]
        lossy = _first_lossy(self.parts)
        if lossy is not None:
            blocks += [prevented(lossy, self.changes, self.all_tried)]
        if self.remote is not None:
            blocks += [self.remote.lines(self.parts[-1].files)]
        blocks += [
            beyond(self.beyond),
            verdict(self.parts, self.remote_lost, self.is_decided, self.seconds),
        ]
        return paragraphs(blocks, width)

    def data(self) -> dict[str, Any]:
        """The answer as plain data, for JSON."""
        return as_data(self)

    def __str__(self) -> str:
        """The text that the command shows, in 80 columns."""
        return self.text(80)


def answer(
    cluster: Cluster,
    faults: Faults,
    budget: Allowance | None = None,
    on_search: Callable[[str], None] = lambda _: None,
) -> Answer:
    """Search what the faults can do to the cluster, and what would prevent a loss."""
    limit = budget or Allowance(SECONDS, STATES)
    seconds = limit.seconds
    asked = [Stage("", cluster)]
    mixed = ""
    if faults.upgrade_to is not None:
        found = stages(cluster, faults.upgrade_to)
        asked = [stage for stage in found if not stage.unknown]
        mixed = mixed_words(found)
    remote = None
    if asked[-1].cluster.tiered:
        on_search("what is lost of remote segments")
        remote = judge_remote(asked[-1].cluster, faults, limit.part(3))
    judged: dict[int, Judged] = {}
    order = sorted(range(len(asked)), key=lambda number: bool(asked[number].changed))
    for left, number in zip(range(len(order), 0, -1), order, strict=True):
        on_search("what is lost")
        choice = choice_of(asked[number].cluster, faults)
        judged[number] = judge_losses(choice, limit.part(left))
    for left, number in zip(range(len(order), 0, -1), order, strict=True):
        on_search("what becomes unavailable")
        judged[number] = judge_stops(judged[number], limit.part(left))
    parts = [part_of(stage, judged[number]) for number, stage in enumerate(asked)]
    if remote is not None:
        parts[-1] = replace(parts[-1], traces={**parts[-1].traces, **remote.traces})
    lossy = _first_lossy(parts)
    tried: tuple[Tried, ...] = ()
    all_tried, known = True, ""
    if lossy is not None:
        moves_back = faults.restarts_all and "preferred_elections" not in faults.budgets
        all_tried = False
        with suppress(LimitError):
            known = recognised_words(lossy.first_loss, with_change=False)
            tried, all_tried = changes(lossy.judged, lossy.release, limit, moves_back, on_search)
    more: tuple[Known, ...] = ()
    if limit.left and (lossy is None or lossy.judged.lost[0].mark):
        found_there = None if lossy is None else finer_of_the_grid().settings
        with suppress(LimitError):
            more = known_beyond(parts[-1].judged.choice, found_there)
    return Answer(cluster, faults, tuple(parts), tried, all_tried, seconds, mixed, known, more,
                  remote)  # fmt: skip


def _first_lossy(parts: Sequence[Part]) -> Part | None:
    """The part whose loss is told: the last that has one, where an upgrade ends."""
    return next((part for part in reversed(parts) if part.is_lossy), None)


# --- for programs --------------------------------------------------------------------------------


def as_data(found: Answer) -> dict[str, Any]:
    """The answer as plain data, for JSON."""
    cluster = found.cluster
    return {
        "release": cluster.release.asked,
        "preset": cluster.release.preset,
        "mode": str(cluster.release.mode),
        "replicas": cluster.replicas,
        "read": [asdict(told) for told in cluster.read],
        "defaults": [asdict(told) for told in cluster.defaults],
        "ignored": list(cluster.ignored),
        "unused": dict(cluster.unused),
        "faults": found.faults.words,
        "mixed": found.mixed,
        "known": found.known,
        "parts": [_of_part(part) for part in found.parts],
        "changes": [_of_tried(tried) for tried in found.changes],
        "all_tried": found.all_tried,
        "beyond": [asdict(known) for known in found.beyond],
        **({} if found.remote is None else {"remote": found.remote.data(found.parts[-1].files)}),
        "seconds": found.seconds,
        "lossy": found.is_lossy,
        "decided": found.is_decided,
    }  # fmt: skip


def _of_part(part: Part) -> dict[str, Any]:
    choice = part.judged.choice
    return {
        "name": part.name,
        "explored": choice.arguments,
        "bounds": dict(choice.model.bounds),
        "settings": as_text(choice.model.settings),
        "states": part.judged.states,
        "losses": [_of_cell(cell, part) for cell in part.judged.losses],
        "stops": [_of_cell(cell, part) for cell in part.judged.stops],
    }


def _of_cell(cell: Cell, part: Part) -> dict[str, Any]:
    name = cell.column.properties[0]
    lasting = part.judged.lasting.get(name)
    file = part.files.get(name)
    return {
        "about": cell.column.name,
        "property": name,
        "explored": cell.search.choice.arguments,
        "verdict": cell.found["verdict"],
        "words": cell.words,
        "depth": cell.found["depth"],
        "steps": list(cell.found.get("steps", ())),
        "lasting": None if lasting is None else {
            "ends": lasting.ends.name.lower(), "steps": lasting.steps,
            "faults": lasting.faults, "words": lasting.words,
        },
        "trace": None if file is None else str(file),
    }  # fmt: skip


def _of_tried(tried: Tried) -> dict[str, Any]:
    return {
        "change": tried.change.words,
        "tier": tried.change.tier.name.lower(),
        "about": tried.change.about,
        "explored": tried.change.choice.arguments,
        "costs": list(tried.costs),
        "cost": tried.cost,
        "states": tried.judged.states,
    }
