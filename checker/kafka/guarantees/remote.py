"""What a tiered topic can lose of its remote segments (KIP-405): what the broker model has not.

It is searched in a model of its own, with the release's rules, whatever the faults asked about do
to local logs. A store that refuses a read, and retention, are no faults: each may happen once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from checker.core.amounts import counted
from checker.core.search.allowance import Allowance
from checker.core.traces.trace import Trace
from checker.kafka.guarantees.cluster import Cluster
from checker.kafka.guarantees.faults import Faults, choice_of
from checker.kafka.guarantees.text import found_of, steps_of
from checker.kafka.guarantees.verdicts import is_safe, judged_cells, trace_of
from checker.lab.experiments.choices import Choice
from checker.lab.experiments.matrix import Cell, Column
from checker.lab.explanations.explanation import recognised_words
from model.kafka_tiered.settings import TieredSettings
from model.language.declare.history import version_of
from model.language.declare.settings import of_release

COLUMNS = (
    Column("remote segments", ("committed_is_kept",), "lost", {}, {}),
    Column("reads of them", ("committed_is_readable",), "refused", {}, {}),
    Column("what such reads return", ("reads_are_of_the_leaders_log",), "wrong", {}, {}),
)

ENDS = ("crashes", "power_losses", "shutdowns", "controlled_shutdowns")
"""Faults that end a broker's process, each of which is one stop here."""

MOST = 2
"""Stops that are searched at most."""


@dataclass(frozen=True)
class Remote:
    """The verdicts on remote segments, each violated one with its trace and the known bug."""

    choice: Choice
    cells: tuple[Cell, ...]
    traces: Mapping[str, Trace]
    known: Mapping[str, str]

    @property
    def lost(self) -> tuple[Cell, ...]:
        """What is lost, refused or wrong."""
        return tuple(cell for cell in self.cells if cell.is_violated)

    @property
    def is_decided(self) -> bool:
        """Of each it is known whether it can be within the bounds."""
        return all(cell.is_violated or is_safe(cell) for cell in self.cells)

    def lines(self, files: Mapping[str, Path]) -> Iterator[str]:
        """The verdicts, and how the first comes about, as lines of text."""
        sizes = self.choice.model.bounds
        once = "one unclean election, " if sizes["unclean_elections"] else ""
        yield (
            f"what can be lost of remote segments ({self.choice.protocol}: "
            f"{counted(sizes['crashes'], 'stop')}, {once}one read that the store refuses, "
            "one expiration)"
        )
        for cell in self.cells:
            name = cell.column.properties[0]
            yield found_of(cell)
            if name in self.known:
                yield f"    {self.known[name]}"
            if name in files:
                yield f"    {files[name]}"
        if self.lost:
            yield f"how: {self.lost[0].column.name}"
            yield from steps_of(self.traces[self.lost[0].column.properties[0]])

    def data(self, files: Mapping[str, Path]) -> dict[str, Any]:
        """The same as plain data, for JSON."""
        return {
            "explored": self.choice.arguments,
            "losses": [
                {
                    "about": cell.column.name,
                    "property": (name := cell.column.properties[0]),
                    "verdict": None if cell.result is None else cell.found["verdict"],
                    "words": cell.words,
                    "depth": cell.found["depth"] if cell.is_violated else None,
                    "steps": list(cell.found["steps"]) if cell.is_violated else [],
                    "known": self.known.get(name, ""),
                    "trace": str(files[name]) if name in files else None,
                }
                for cell in self.cells
            ],
        }


def remote_choice(cluster: Cluster, faults: Faults) -> Choice:
    """The tiered model with the release's rules, and stops for the faults that end a process."""
    asked = choice_of(cluster, faults)
    stops = min(MOST, sum(asked.bounds.get(name, 0) for name in ENDS))
    unclean = asked.model.settings.unclean_leader_election_enable
    bounds = {
        "crashes": stops,
        "build_crashes": min(1, stops),
        "unclean_elections": int(unclean),
        "max_leader_epoch": 2,
        "refused_reads": 1,
        "expirations": 1,
    }
    rules = of_release(TieredSettings, version_of(cluster.release.asked))
    return Choice("kafka_tiered", "", rules, bounds)


def judge_remote(cluster: Cluster, faults: Faults, budget: Allowance) -> Remote:
    """Search what these faults can do to remote segments."""
    choice = remote_choice(cluster, faults)
    cells = judged_cells(choice, COLUMNS, budget)
    lost = [cell for cell in cells if cell.is_violated]
    traces = {cell.column.properties[0]: trace_of(cell) for cell in lost}
    known = {name: recognised_words(trace, with_change=False) for name, trace in traces.items()}
    return Remote(choice, cells, traces, known)
