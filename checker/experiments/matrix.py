"""The matrix: rows of settings, columns of faults and a property, a verdict in each cell.

A specification is a TOML file. Cells that share a row and faults share one search. Each search runs
in a process of its own; results can be kept in a file, one line each, and are not computed again.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import model
import properties
from checker.experiments.cases import Choice
from checker.experiments.toml_files import read_toml
from checker.verdict import Agreement, Verdict
from model.language.errors import UsageError
from model.language.protocol import Instance
from properties import choose_properties

Result = dict[str, Any]
"""What a search found, as plain data: `properties` maps names to verdict, depth and steps."""


@dataclass(frozen=True)
class Row:
    """A choice of settings, with its name for people."""

    name: str
    preset: str
    settings: Mapping[str, str]
    bounds: Mapping[str, int]


@dataclass(frozen=True)
class Column:
    """Faults and a property. `fails` is the word for its violation, such as "lost"."""

    name: str
    property: str
    fails: str
    settings: Mapping[str, str]
    bounds: Mapping[str, int]


@dataclass(frozen=True)
class Limits:
    """Where each search stops without an answer."""

    depth: int | None = None
    states: int | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class Search:
    """One search: the cells of a row that share their faults."""

    choice: Choice
    properties: tuple[str, ...]
    limits: Limits

    @property
    def key(self) -> str:
        """What identifies the search among stored results; the code of the model is part of it."""
        identity = self.choice.model.identity
        return json.dumps(
            [identity, self.properties, vars(self.limits), code_digest()], sort_keys=True
        )


@dataclass(frozen=True)
class Matrix:
    """A table to fill."""

    title: str
    text: str
    protocol: str
    rows: tuple[Row, ...]
    columns: tuple[Column, ...]
    limits: Limits = field(default_factory=Limits)

    def choice(self, row: Row, column: Column) -> Choice:
        """What is explored for a cell."""
        return Choice(
            self.protocol, row.preset, {**row.settings, **column.settings},
            {**row.bounds, **column.bounds},
        )  # fmt: skip

    @cached_property
    def searches(self) -> dict[tuple[int, int], Search]:
        """The search for each cell, by row and column; cells that can share one do."""
        groups: dict[tuple[int, str], list[int]] = {}
        for r, row in enumerate(self.rows):
            for c, column in enumerate(self.columns):
                groups.setdefault((r, self.choice(row, column).arguments), []).append(c)
        found: dict[tuple[int, int], Search] = {}
        for (r, _), columns in groups.items():
            names = tuple(sorted({self.columns[c].property for c in columns}))
            search = Search(self.choice(self.rows[r], self.columns[columns[0]]), names, self.limits)
            found |= {(r, c): search for c in columns}
        return dict(sorted(found.items()))


@lru_cache
def code_digest() -> str:
    """A digest of the sources of model and properties: with other sources, results may differ."""
    digest = hashlib.sha256()
    for package in (model, properties):
        for folder in package.__path__:
            for path in sorted(Path(folder).rglob("*.py")):
                digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def read_matrix(path: Path, limits: Limits) -> Matrix:
    """The matrix that a file specifies; `UsageError` in one line if it is not well formed."""
    try:
        data = read_toml(path)
        common = data.get("settings", {}), data.get("bounds", {})
        rows = tuple(_row(row, *common) for row in data["row"])
        columns = tuple(_column(column) for column in data["column"])
        matrix = Matrix(
            data["title"], data.get("text", ""), data["protocol"], rows, columns, limits
        )
    except KeyError as error:
        raise UsageError(f"{path}: no {error.args[0]!r}") from error
    for search in matrix.searches.values():  # wrong names are an error before anything runs
        choose_properties(search.choice.model.protocol, search.properties)
    return matrix


def _texts(values: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(value) for name, value in values.items()}


def _row(data: Mapping[str, Any], settings: Mapping[str, Any], bounds: Mapping[str, int]) -> Row:
    chosen = _texts({**settings, **data.get("settings", {})})
    return Row(data["name"], data.get("preset", ""), chosen, {**bounds, **data.get("bounds", {})})


def _column(data: Mapping[str, Any]) -> Column:
    return Column(
        data["name"], data["property"], data.get("fails", "fails"),
        _texts(data.get("settings", {})), data.get("bounds", {}),
    )  # fmt: skip


# --- searching -----------------------------------------------------------------------------------


def run_search(search: Search, cross_check: bool = True) -> Result:
    """Run one search to its end or limits; what it found, as plain data."""
    from checker.search.explore import Explorer, Options
    from checker.search.explore import Limits as SearchLimits

    chosen_model = search.choice.model
    limits = SearchLimits(search.limits.depth, search.limits.states, search.limits.seconds)
    chosen = choose_properties(chosen_model.protocol, search.properties)
    options = Options(keep_going=True, symmetry=_is_symmetric(search), cross_check=cross_check)
    result = Explorer(chosen_model, chosen, limits, options).run()
    found: dict[str, Any] = {
        prop.name: {"verdict": str(result.verdict_on(prop)), "depth": result.depth, "steps": []}
        for prop in chosen
    }
    for violation in result.violations:
        steps = [[step.action.name, *step.arguments] for step in violation.steps]
        found[violation.property.name] |= {"depth": violation.depth, "steps": steps}
    return {
        "key": search.key,
        "properties": found,
        "states": result.distinct_states,
        "cross_check": Agreement.data(result.agreement),
        "seconds": round(result.seconds, 2),
    }


def _is_symmetric(search: Search) -> bool:
    from checker.engines.vectorised import VectorisedEngine
    from checker.search.symmetry import Symmetry

    wanted = search.choice.model
    chosen = choose_properties(wanted.protocol, search.properties)
    try:
        Symmetry(wanted, chosen, VectorisedEngine(wanted, []).layout)
    except UsageError:
        return False
    return True


def steps_of(search: Search, found: Mapping[str, Any]) -> tuple[Instance, ...]:
    """The stored steps of a violation as action instances."""
    by_name = {(i.action.name, *i.arguments): i for i in search.choice.model.instances}
    return tuple(by_name[tuple(step)] for step in found["steps"])


class Computation:
    """Fills a matrix: several searches at once, stored results first. `stop` ends it soon."""

    def __init__(
        self,
        matrix: Matrix,
        workers: int = 1,
        store: Path | None = None,
        cross_check: bool = True,
    ) -> None:
        self.matrix = matrix
        self.results: dict[str, Result] = {}
        self._workers = workers
        self._store = store
        self._stopped = False
        self._cross_check = cross_check
        wanted = {search.key: search for search in matrix.searches.values()}
        self.total = len(wanted)
        self.results |= {k: r for k, r in _stored(store).items() if k in wanted}
        self._open = {key: s for key, s in wanted.items() if key not in self.results}

    def stop(self) -> None:
        """Give up what is running; finished searches are kept."""
        self._stopped = True

    def run(self, on_done: Callable[[Search, Result], None] | None = None) -> bool:
        """Compute what is missing; whether nothing is missing now."""
        if self._open and not self._stopped:
            context = get_context("spawn")
            with ProcessPoolExecutor(self._workers, context, _ignore_interrupts) as pool:
                running = {
                    pool.submit(run_search, _light(s), self._cross_check): s
                    for s in self._open.values()
                }
                try:
                    self._collect(running, on_done or (lambda *_: None))
                finally:
                    pool.shutdown(wait=False, cancel_futures=True)
                    for process in [*(pool._processes or {}).values()]:
                        process.terminate()
        return len(self.results) == self.total

    @property
    def checked(self) -> str:
        """How many of the searches were checked, for people."""
        checked = sum(1 for result in self.results.values() if result.get("cross_check"))
        return f"{checked} of {self.total} searches checked against the reference engine"

    def _collect(
        self, running: dict[Future[Result], Search], on_done: Callable[[Search, Result], None]
    ) -> None:
        while running and not self._stopped:
            done, _ = wait(running, timeout=0.2, return_when=FIRST_COMPLETED)
            for future in done:
                search, result = running.pop(future), future.result()
                self.results[search.key] = result
                self._keep(result)
                on_done(search, result)

    def _keep(self, result: Result) -> None:
        if self._store is not None:
            with self._store.open("a", encoding="utf-8") as file:
                file.write(json.dumps(result) + "\n")
                file.flush()
                os.fsync(file.fileno())


def _light(search: Search) -> Search:
    """The search without its model, which cannot go to another process and is built there anew."""
    return replace(search, choice=replace(search.choice))


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _stored(path: Path | None) -> dict[str, Result]:
    """Stored results by key; a line that was cut short by a crash is left out."""
    if path is None or not path.exists():
        return {}
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            result = json.loads(line)
            found[result["key"]] = result
        except (ValueError, KeyError, TypeError):
            continue
    return found


# --- cells ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CellResult:
    """One cell: its words, and for a violation the steps that lead to it."""

    row: Row
    column: Column
    search: Search
    result: Result | None

    @property
    def found(self) -> Mapping[str, Any]:
        """Verdict, depth and steps of the column's property."""
        assert self.result is not None
        return self.result["properties"][self.column.property]  # type: ignore[no-any-return]

    @property
    def is_violated(self) -> bool:
        """There is a trace to show."""
        return self.result is not None and self.found["verdict"] == Verdict.VIOLATED

    @property
    def words(self) -> str:
        """`safe`, `safe up to depth N`, `lost in k steps`, or why there is no answer."""
        if self.result is None:
            return "not computed"
        verdict, depth = self.found["verdict"], self.found["depth"]
        if verdict == Verdict.VIOLATED:
            return f"{self.column.fails} in {depth} step{'' if depth == 1 else 's'}"
        return "safe" if verdict == Verdict.EXHAUSTED else f"safe up to depth {depth}"


def cells(computation: Computation) -> Iterator[list[CellResult]]:
    """The cells by row."""
    matrix = computation.matrix
    for r, row in enumerate(matrix.rows):
        found = []
        for c, column in enumerate(matrix.columns):
            search = matrix.searches[r, c]
            found.append(CellResult(row, column, search, computation.results.get(search.key)))
        yield found


def as_data(computation: Computation) -> list[dict[str, Any]]:
    """Every cell as plain data, for JSON."""
    return [
        {
            "row": cell.row.name,
            "column": cell.column.name,
            "property": cell.column.property,
            "explored": cell.search.choice.arguments,
            "words": cell.words,
            "verdict": cell.found["verdict"] if cell.result else "unknown",
            "depth": cell.found["depth"] if cell.result else None,
            "distinct_states": cell.result["states"] if cell.result else None,
            "seconds": cell.result["seconds"] if cell.result else None,
            "cross_check": cell.result.get("cross_check") if cell.result else None,
        }
        for row in cells(computation)
        for cell in row
    ]
