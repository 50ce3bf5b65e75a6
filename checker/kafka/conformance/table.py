"""The table *case x release*: the step at which each release departs from each bug's trace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from checker.core.traces.trace import Trace, build_trace
from checker.kafka.conformance.harness import Harness
from checker.kafka.conformance.plan import ELR_EVENTS, without_elr
from checker.kafka.conformance.replays import Cell, cell, needs_elr, settings_named
from checker.kafka.releases.jars import at_least
from checker.lab.experiments.cases import Case, read_cases
from checker.lab.experiments.choices import explored
from model.kafka.choices import UpgradeTo
from model.language.errors import RejectedError

FIRST_WITH_DIRECTORIES = "3.7.0"
CASES = Path("counterexamples/kafka")
BEGIN, END = "<!-- table: case x release -->", "<!-- end of table -->"


@dataclass
class Traces:
    """The traces of a case: the stored one, and if need be the shortest without ELR."""

    case: Case
    stored: Trace

    def for_release(self, version: str) -> tuple[Trace | None, bool]:
        """The trace for a release, and whether it is not the stored one; none if there is none.

        No release that is compared asks where an epoch ends before it fetches, and in an upgrade
        there is more than one. Brokers of the harness have two directories where those of KRaft
        may (KIP-858); they do not outlive one that fails, and lose none of a move.
        """
        if self.stored.model.settings.upgrade_to != UpgradeTo.NONE:
            return None, False
        bounds = self.stored.model.bounds
        if bounds["failed_directories"]:
            return None, False
        two = at_least(version, FIRST_WITH_DIRECTORIES) and not bounds["lost_directories"]
        if bounds["directory_moves"] and not two:
            return None, False
        if any(step.action.name == "follower_truncate" for step in self.stored.steps):
            return None, False
        if not needs_elr(self.stored, version):
            return self.stored, False
        if any(self.stored.model.bounds[event] for event in ELR_EVENTS):
            return None, False
        return self._without_elr, True

    @cached_property
    def _without_elr(self) -> Trace | None:
        """The same steps, where they do the same without ELR; else what a search finds."""
        broken, violates = self.case.broken, self.case.violates
        settings = without_elr(settings_named(self.stored.model))
        choice = replace(broken, preset="", settings=settings)
        steps = [choice.model.instances[step.number] for step in self.stored.steps]
        with suppress(RejectedError):
            return build_trace(choice.model, steps, violates)
        result = explored(choice, [violates])
        if not result.violations:
            return None
        return build_trace(choice.model, result.violations[0].steps, violates)


@dataclass
class Table:
    """Cells by case and release; `None` where a bug needs what the release does not have."""

    versions: tuple[str, ...]
    rows: dict[str, dict[str, Cell | None]]
    depths: dict[str, int]

    @property
    def wrong(self) -> list[tuple[str, str, Cell]]:
        """The cells in which Kafka does not depart where the release's model does."""
        every = ((n, v, c) for n, row in self.rows.items() for v, c in row.items())
        return [
            (name, version, cell) for name, version, cell in every if cell and not cell.is_right
        ]

    def markdown(self) -> str:
        """The table as Markdown."""
        lines = [
            f"| case | steps | {' | '.join(self.versions)} |",
            "|---" * (len(self.versions) + 2) + "|",
        ]
        for name, row in self.rows.items():
            texts = [found.text if (found := row.get(v)) else "-" for v in self.versions]
            link = f"[{name}](../kafka/{name}/)"
            lines.append(f"| {link} | {self.depths[name]} | {' | '.join(texts)} |")
        return "\n".join(lines) + "\n"


def columns(part: str) -> tuple[str, ...]:
    """The releases that a page's table has, as `Table.markdown` writes it; none without a table."""
    heads = [line for line in part.splitlines() if line.startswith("| case |")]
    return tuple(head.strip() for head in heads[0].strip("|").split("|")[2:]) if heads else ()


def case_table(versions: Sequence[str], tell: Callable[[str], None]) -> Table:
    """Replay the cases on each release, one Java process a release; `tell` gets each in words."""
    chosen = [Traces(case, case.stored_trace()) for case in read_cases(CASES)]
    table = Table(
        tuple(versions),
        {traces.case.name: {} for traces in chosen},
        {traces.case.name: traces.stored.depth for traces in chosen},
    )
    for version in versions:
        tell(f"Kafka {version}")
        with Harness(version) as harness:
            for traces in chosen:
                trace, other = traces.for_release(version)
                found = None if trace is None else cell(harness, trace, other)
                table.rows[traces.case.name][version] = found
    return table
