"""One row of the grid of guarantees, made on the spot: what is lost, and what stops.

A search of the model as it is says what can be lost, and one of the finer model of the grid whether
that is all. What stops is searched where live followers keep up, as in the grid, since otherwise a
follower that lags stops writes without any fault.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache

from checker.core.files import read_toml
from checker.core.search.allowance import Allowance
from checker.core.traces.trace import Trace, build_trace
from checker.core.verdict import Verdict
from checker.kafka.guarantees.stops import Outage, outages
from checker.lab.experiments.choices import Choice, steps_named
from checker.lab.experiments.grid import Result
from checker.lab.experiments.matrix import (
    GUARANTEES,
    Cell,
    Column,
    Finer,
    Matrix,
    Row,
    Search,
    cells,
    run_search,
)
from model.language.errors import LimitError
from properties import choose_properties

SECONDS = 60.0
"""Seconds that an answer takes, unless more are allowed."""

STATES = 40_000_000
"""States that one search visits at most: some GB of memory."""

KEEPS_UP = {"followers.keep.up": "true"}

LOSSES = (
    Column("acknowledged records", ("acknowledged_records_survive",), "lost", {}, {}),
    Column("what consumers have read", ("exposed_records_survive",), "lost", {}, {}),
    Column("a copy on some disk", ("acknowledged_record_on_some_disk",), "gone", {}, {}),
)
READS = Column("reads from followers", ("consumer_reads_only_committed",), "wrong", {}, {})
LEADER = Column("a leader", ("partition_has_leader",), "none", KEEPS_UP, {})
WRITES = Column("writes with acks=all", ("leader_takes_writes",), "refused", KEEPS_UP, {})
ANSWERS = Column(
    "acknowledgements and reads", ("leader_exposes_what_the_isr_holds",), "late", KEEPS_UP, {}
)
RETURN = Column("a leader once all return", ("live_replicas_have_a_leader",), "none", KEEPS_UP, {})
STOPS = (LEADER, WRITES, ANSWERS, RETURN)


@dataclass(frozen=True)
class Judged:
    """A choice with its verdicts: of losses, of stops, and for how long these last."""

    choice: Choice
    losses: tuple[Cell, ...]
    stops: tuple[Cell, ...]
    lasting: Mapping[str, Outage]

    @property
    def lost(self) -> tuple[Cell, ...]:
        """The losses that there are; last those that only the finer model has."""
        lost = (cell for cell in self.losses if cell.is_violated)
        return tuple(sorted(lost, key=lambda cell: bool(cell.mark)))

    @property
    def is_decided(self) -> bool:
        """Of each loss it is known whether there is one within the bounds."""
        return all(cell.is_violated or is_safe(cell) for cell in self.losses)

    @property
    def states(self) -> int:
        """States that were visited for it."""
        results = {cell.search.name: cell.result for cell in (*self.losses, *self.stops)}
        return sum(result["states"] for result in results.values() if result)


def is_safe(cell: Cell) -> bool:
    """Every reachable state was visited, and none violates."""
    return cell.result is not None and cell.found["verdict"] == Verdict.EXHAUSTED


def losses_of(choice: Choice) -> tuple[Column, ...]:
    """What can be lost, as far as the settings make it a question."""
    return (*LOSSES, READS) if choice.model.settings.follower_reads else LOSSES


def stops_of(choice: Choice) -> tuple[Column, ...]:
    """What can stop, as far as it means the same for all brokers."""
    model = choice.model
    properties = choose_properties(model.protocol, [column.properties[0] for column in STOPS])
    return tuple(
        column
        for column, prop in zip(STOPS, properties, strict=True)
        if model.is_one_claim(prop.claim)
    )


@cache
def finer_of_the_grid() -> Finer:
    """The finer model in which nothing may be lost either, for it to be called safe."""
    return Finer.read(read_toml(GUARANTEES)["finer"])


def judge_losses(choice: Choice, budget: Allowance, *, finer: bool = True) -> Judged:
    """Search a choice for losses alone: with `finer`, where it has none, the finer model too."""
    return Judged(choice, judged_cells(choice, losses_of(choice), budget, finer=finer), (), {})


def judge_stops(judged: Judged, budget: Allowance) -> Judged:
    """The same, with what stops, and for how long."""
    stops = judged_cells(judged.choice, stops_of(judged.choice), budget)
    violated = [cell for cell in stops if cell.is_violated]
    lasting: Mapping[str, Outage] = {}
    if violated and budget.left:
        names = [cell.column.properties[0] for cell in violated]
        with suppress(LimitError):
            lasting = outages(violated[0].search.choice, names, budget.limits)
    return replace(judged, stops=stops, lasting=lasting)


def judged_cells(
    choice: Choice, columns: tuple[Column, ...], budget: Allowance, *, finer: bool = False
) -> tuple[Cell, ...]:
    """A cell for each column; with `finer`, what is safe is searched in the finer model too."""
    matrix = Matrix("", "", (Row("", choice),), columns)
    results: dict[str, Result] = {}
    _search(matrix.searches.values(), budget, results)
    (row,) = cells(matrix, results)
    if finer and any(is_safe(cell) for cell in row):
        matrix = replace(matrix, finer=finer_of_the_grid())
        _search(matrix.finer_searches.values(), budget, results)
        (row,) = cells(matrix, results)
    return tuple(row)


def _search(searches: Iterable[Search], budget: Allowance, results: dict[str, Result]) -> None:
    for name, search in {search.name: search for search in searches}.items():
        if budget.left:
            with suppress(LimitError):  # nothing is left then
                results[name] = run_search(replace(search, limits=budget.limits))


def trace_of(cell: Cell) -> Trace:
    """The trace to what a cell says fails, replayed on the reference engine."""
    model = cell.search.choice.model
    (claim,) = choose_properties(model.protocol, [cell.found["property"]])
    return build_trace(model, steps_named(model, cell.found["steps"]), claim)
