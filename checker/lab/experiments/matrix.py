"""The matrix: rows of settings, columns of faults and properties, a verdict in each cell.

A specification is a TOML file. Cells that share a row and faults share one search. Where it names a
finer model, nothing is *safe* that is not so there too. Where it names fixes, a cell says which of
them are missing instead: see `fixes`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any

import model
import properties
from checker.core.amounts import counted
from checker.core.files import COUNTEREXAMPLES, modules_below, parsed, table, tables
from checker.core.search.limits import Limits
from checker.core.search.question import Options
from checker.core.verdict import Agreement, Verdict
from checker.lab.experiments.choices import Choice, explored, is_symmetric, texts
from checker.lab.experiments.fixes import Fix, missing_fixes
from checker.lab.experiments.grid import Grid, Result, Sweep
from model.language.declare.settings import as_text
from model.language.naming import instance_words
from properties import choose_properties

GUARANTEES = COUNTEREXAMPLES / "matrix" / "guarantees.toml"
"""What a partition survives: the grid whose words and searches others go by."""


@dataclass(frozen=True)
class Row:
    """A choice of settings, with its name for people; `bounds` go before those of a column."""

    name: str
    choice: Choice
    bounds: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Column:
    """Faults and properties. `fails` is the word for a violation, such as "lost"."""

    name: str
    properties: tuple[str, ...]
    fails: str
    settings: Mapping[str, str]
    bounds: Mapping[str, int]


@dataclass(frozen=True)
class Finer:
    """Settings with which the model takes smaller steps: what is only violated there has a mark,
    such as 0002, of which `about` says where that is. Models that have one of the settings in
    `unless` are left out."""

    settings: Mapping[str, str]
    mark: str
    about: str
    unless: Mapping[str, str] = field(default_factory=dict)

    def of(self, choice: Choice) -> Choice | None:
        """The finer choice; none for what is left out."""
        if self.unless.items() & as_text(choice.model.settings).items():
            return None
        return choice.with_settings(self.settings)

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Finer:
        """As a specification says it."""
        unless = texts(table(data, "unless", {}))
        return cls(texts(table(data, "settings")), data["mark"], data["about"], unless)


@dataclass(frozen=True)
class Search:
    """What is behind a cell: a search, or with fixes as many as it takes to find those missing."""

    choice: Choice
    properties: tuple[str, ...]
    limits: Limits
    fixes: tuple[Fix, ...] = ()

    @property
    def name(self) -> str:
        """What tells the search from others."""
        limits = [f"{name} {value}" for name, value in vars(self.limits).items() if value]
        asked = [f"--property {name}" for name in self.properties]
        about = [json.dumps([vars(fix) for fix in self.fixes])] if self.fixes else []
        return " ".join([self.choice.arguments, *asked, *limits, *about])


@dataclass(frozen=True)
class Matrix:
    """A table to fill."""

    title: str
    text: str
    rows: tuple[Row, ...]
    columns: tuple[Column, ...]
    limits: Limits = field(default_factory=Limits)
    fixes: tuple[Fix, ...] = ()
    finer: Finer | None = None

    def choice(self, row: Row, column: Column) -> Choice:
        """What is explored for a cell."""
        chosen = row.choice
        return Choice(
            chosen.protocol, chosen.preset, {**chosen.settings, **column.settings},
            {**chosen.bounds, **column.bounds, **row.bounds},
        )  # fmt: skip

    @cached_property
    def searches(self) -> dict[tuple[int, int], Search]:
        """The search for each cell, by row and column; cells that can share one do."""
        groups: dict[tuple[int, str], list[int]] = {}
        for r, row in enumerate(self.rows):
            for c, column in enumerate(self.columns):
                shared = str(c) if self.fixes else self.choice(row, column).arguments
                groups.setdefault((r, shared), []).append(c)
        found: dict[tuple[int, int], Search] = {}
        for (r, _), columns in groups.items():
            names = dict.fromkeys(name for c in columns for name in self.columns[c].properties)
            choice = self.choice(self.rows[r], self.columns[columns[0]])
            asked = tuple(names) if self.fixes else tuple(sorted(names))
            search = Search(choice, asked, self.limits, self.fixes)
            found |= {(r, c): search for c in columns}
        return dict(sorted(found.items()))

    @cached_property
    def finer_searches(self) -> dict[tuple[int, int], Search]:
        """The same in the finer model, of the cells for which there is one."""
        if self.finer is None:
            return {}
        return {
            place: replace(search, choice=choice)
            for place, search in self.searches.items()
            if (choice := self.finer.of(search.choice)) is not None
        }

    def sweep(
        self, workers: int = 1, store: Path | None = None, *,
        whatever_sources: bool = False, cross_check: bool = True,
    ) -> Sweep[Search]:  # fmt: skip
        """The searches, ready to run."""
        work = partial(run_search, cross_check=cross_check)
        searches = *self.searches.values(), *self.finer_searches.values()
        jobs = {search.name: search for search in searches}
        digest = None if whatever_sources else code_digest()
        return Sweep(work, jobs, workers=workers, store=store, digest=digest)


@lru_cache
def code_digest() -> str:
    """A digest of the sources of model and properties: with other sources, results may differ."""
    digest = hashlib.sha256()
    for package in (model, properties):
        for folder in package.__path__:
            for path in modules_below(Path(folder)):
                digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def read_matrix(path: Path, limits: Limits) -> Matrix:
    """The matrix that a file specifies; `UsageError` in one line if it is not well formed."""
    with parsed(path) as data:
        rows = tuple(_row(row, data) for row in tables(data, "row"))
        columns = tuple(_column(column) for column in tables(data, "column"))
        fixes = tuple(map(Fix.of, tables(data, "fix"))) if "fix" in data else ()
        finer = Finer.read(table(data, "finer")) if "finer" in data else None
        matrix = Matrix(data["title"], data.get("text", ""), rows, columns, limits, fixes, finer)
    for search in matrix.searches.values():  # wrong names are an error before anything runs
        choose_properties(search.choice.model.protocol, search.properties)
        for fix in fixes:
            fix.is_missing(search.choice)
    return matrix


def _row(data: Mapping[str, Any], common: Mapping[str, Any]) -> Row:
    both = {
        key: {**table(common, key, {}), **table(data, key, {})} for key in ("settings", "bounds")
    }
    choice = Choice.of({"protocol": common["protocol"], **data, **both})
    return Row(data["name"], choice, table(data, "bounds", {}))


def _column(data: Mapping[str, Any]) -> Column:
    named = data["property"]
    return Column(
        data["name"], (named,) if isinstance(named, str) else tuple(named),
        data.get("fails", "fails"), texts(table(data, "settings", {})), table(data, "bounds", {}),
    )  # fmt: skip


# --- searching -----------------------------------------------------------------------------------


def run_search(search: Search, cross_check: bool = True) -> Result:
    """Run one search to its end or limits; what it found, as plain data.

    `properties` maps names to verdict, depth and steps; with fixes, there are `words` instead.
    """
    asked = search.choice, search.properties, search.limits
    if search.fixes:
        return missing_fixes(*asked, search.fixes, cross_check)
    symmetry = is_symmetric(search.choice, search.properties)
    options = Options(keep_going=True, symmetry=symmetry, cross_check=cross_check)
    result = explored(*asked, options)
    found: dict[str, Any] = {
        prop.name: {"verdict": str(result.verdict_on(prop)), "depth": result.depth, "steps": []}
        for prop in result.properties
    }
    for violation in result.violations:
        steps = [instance_words(result.model, step) for step in violation.steps]
        found[violation.property.name] |= {"depth": violation.depth, "steps": steps}
    return {
        "properties": found,
        "states": result.distinct_states,
        "cross_check": Agreement.data(result.agreement),
        "seconds": round(result.seconds, 2),
    }


# --- cells ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cell:
    """One cell: its words, and for a violation the steps that lead to it.

    `mark` is that of the finer model, if the search is one of it; else empty.
    """

    row: Row
    column: Column
    search: Search
    result: Result | None
    mark: str = ""

    @property
    def found(self) -> Mapping[str, Any]:
        """Property, verdict, depth and steps: of the property that fails first, if one does."""
        if self.result is None:
            return {"verdict": str(Verdict.UNKNOWN), "depth": None}
        if self.search.fixes:
            return self.result
        of_each = [
            {**self.result["properties"][name], "property": name} for name in self.column.properties
        ]
        failed = [found for found in of_each if found["verdict"] == Verdict.VIOLATED]
        return min(failed or of_each, key=lambda found: int(found["depth"]))

    @property
    def is_violated(self) -> bool:
        """There is a trace to show."""
        return not self.search.fixes and self.found["verdict"] == Verdict.VIOLATED

    @property
    def words(self) -> str:
        """`safe`, `safe up to depth N`, `lost in k steps`, or why there is no answer."""
        if self.result is None:
            return "not computed"
        if self.search.fixes:
            return str(self.result["words"])
        verdict, depth = self.found["verdict"], self.found["depth"]
        if verdict == Verdict.VIOLATED:
            marked = f" ({self.mark})" if self.mark else ""
            return f"{self.column.fails} in {counted(depth, 'step')}{marked}"
        return "safe" if verdict == Verdict.EXHAUSTED else f"safe up to depth {depth}"


def cells(matrix: Matrix, results: Mapping[str, Result]) -> Iterator[list[Cell]]:
    """The cells by row."""
    for r in range(len(matrix.rows)):
        yield [_cell(matrix, r, c, results) for c in range(len(matrix.columns))]


def _cell(matrix: Matrix, r: int, c: int, results: Mapping[str, Result]) -> Cell:
    """What the model as it is violates or, if it does not, what the finer one says."""
    row, column, search = matrix.rows[r], matrix.columns[c], matrix.searches[r, c]
    cell = Cell(row, column, search, results.get(search.name))
    finer = matrix.finer_searches.get((r, c))
    if matrix.finer is None or finer is None or cell.is_violated or cell.result is None:
        return cell
    return Cell(row, column, finer, results.get(finer.name), matrix.finer.mark)


def as_grid(matrix: Matrix, results: Mapping[str, Result]) -> Grid:
    """The matrix as a table."""
    rows = [[row[0].row.name, *(cell.words for cell in row)] for row in cells(matrix, results)]
    return Grid(["", *(column.name for column in matrix.columns)], rows, matrix.title)


def checked(sweep: Sweep[Search]) -> str:
    """How many of the searches were checked, for people."""
    count = sum(1 for result in sweep.results.values() if result.get("cross_check"))
    return f"{count} of {len(sweep.jobs)} searches checked against the reference engine"


def as_data(matrix: Matrix, results: Mapping[str, Result]) -> list[dict[str, Any]]:
    """Every cell as plain data, for JSON."""
    return [
        {
            "row": cell.row.name,
            "column": cell.column.name,
            "property": ", ".join(cell.column.properties),
            "explored": cell.search.choice.arguments,
            "words": cell.words,
            "verdict": cell.found["verdict"],
            "depth": cell.found["depth"],
            "distinct_states": cell.result["states"] if cell.result else None,
            "seconds": cell.result["seconds"] if cell.result else None,
            "cross_check": cell.result.get("cross_check") if cell.result else None,
        }
        for row in cells(matrix, results)
        for cell in row
    ]
