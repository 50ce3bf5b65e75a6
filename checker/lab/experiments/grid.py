"""Grids: what is behind the cells of a table, computed a job at a time, and the table itself.

A cell is a row and a column; the job behind it gives a small JSON result, and cells may share one.
`Sweep` runs jobs, several at once, each in a process of its own. What it keeps in a file is not
computed again as long as the job and the sources stay the same. `Grid` is the table, as Markdown or
for a terminal.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Generic, TypeVar

from rich.console import Console
from rich.table import Table

from checker.core.children import begin_child, deaf_children
from checker.core.search.limits import Until
from model.language.errors import UsageError

Job = TypeVar("Job")
_HEAD = b'{"job": '
"""What every line of stored results begins with."""

_AHEAD = 2
"""So many jobs a worker are handed over at once."""

Result = dict[str, Any]
"""What a job gives, as plain data."""


class Sweep(Generic[Job]):
    """Computes `work(job)` for each of the named jobs; stored results first. `stop` ends it soon.

    `work` and the jobs can be pickled. `store` is a file of one line a
    result. `digest` tells the sources: results of others do not count, unless it is `None`.
    Without workers, jobs run in this process; a worker ends after `renewed_after` jobs, for one
    that has the memory of none.
    """

    def __init__(
        self,
        work: Callable[[Job], Result],
        jobs: Mapping[str, Job],
        *,
        workers: int = 1,
        store: Path | None = None,
        digest: str | None = "",
        renewed_after: int | None = None,
    ) -> None:
        self.results: dict[str, Result] = {}
        self.jobs = jobs
        self._work = work
        self._workers = workers
        self._renewed_after = renewed_after
        self.store = store
        self._digest = digest
        self._stopped = False
        self._until: Until | None = None
        for entry in _stored(store):
            if entry["job"] in jobs and digest in (None, entry["digest"]):
                self.results[entry["job"]] = entry["result"]

    @property
    def is_complete(self) -> bool:
        """Every job has its result."""
        return len(self.results) == len(self.jobs)

    @property
    def progress(self) -> str:
        """How many jobs have their results, of how many."""
        return f"{len(self.results)} of {len(self.jobs)}"

    @property
    def _is_over(self) -> bool:
        return self._stopped or (self._until is not None and not self._until.left)

    def stop(self) -> None:
        """Give up what is running; finished jobs are kept."""
        self._stopped = True

    def run(
        self, on_done: Callable[[str, Result], None] | None = None, until: Until | None = None
    ) -> bool:
        """Compute what is missing until there is no time; whether nothing is missing now."""
        self._until = until
        done = on_done or (lambda *_: None)
        missing = {name: job for name, job in self.jobs.items() if name not in self.results}
        if missing and not self._is_over and self._workers:
            self._run_apart(missing, done)
        elif missing:
            for name, job in missing.items():
                if not self._is_over:
                    self._keep(name, self._work(job), done)
        return self.is_complete

    def _run_apart(self, missing: Mapping[str, Job], done: Callable[[str, Result], None]) -> None:
        context = get_context("spawn")
        with ProcessPoolExecutor(
            self._workers,
            context,
            begin_child,
            (os.getpid(),),
            max_tasks_per_child=self._renewed_after,
        ) as pool:
            try:
                self._collect(pool, iter(missing.items()), done)
            finally:
                processes = [*(pool._processes or {}).values()]  # shutdown forgets them
                pool.shutdown(wait=False, cancel_futures=True)
                for process in processes:
                    process.kill()

    def _collect(
        self, pool: ProcessPoolExecutor, left: Iterator[tuple[str, Job]],
        done: Callable[[str, Result], None],
    ) -> None:  # fmt: skip
        running: dict[Future[Result], str] = {}
        while not self._is_over:
            for name, job in islice(left, _AHEAD * self._workers - len(running)):
                with deaf_children():
                    running[pool.submit(self._work, job)] = name
            if not running:
                break
            ended, _ = wait(running, timeout=0.2, return_when=FIRST_COMPLETED)
            for future in ended:
                self._keep(running.pop(future), future.result(), done)

    def _keep(self, name: str, result: Result, done: Callable[[str, Result], None]) -> None:
        self.results[name] = result
        if self.store is not None:
            line = json.dumps({"job": name, "digest": self._digest, "result": result})
            with self.store.open("a+b") as file:
                file.write(_line_end(self.store) + line.encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())
        done(name, result)


def _line_end(path: Path) -> bytes:
    """What ends a line that a crash cut short."""
    content = path.read_bytes()
    return b"" if content.endswith(b"\n") or not content else b"\n"


def _stored(path: Path | None) -> list[dict[str, Any]]:
    """The stored entries; a line that was cut short by a crash is left out.

    `UsageError` if the file is something else: results would be written at its end.
    """
    if path is None:
        return []
    if not path.parent.is_dir():
        raise UsageError(f"{path} cannot be made: {path.parent} is no directory")
    if not path.exists():
        return []
    foreign = f"{path} does not hold results: name another file, or a new one"
    if not path.is_file():
        raise UsageError(foreign)
    found = []
    for line in path.read_bytes().splitlines():
        entry = _entry(line)
        if entry is not None:
            found.append(entry)
        elif line[: len(_HEAD)] != _HEAD[: len(line)]:
            raise UsageError(foreign)
    return found


def _entry(line: bytes) -> dict[str, Any] | None:
    with contextlib.suppress(ValueError, TypeError, KeyError, RecursionError):
        entry = json.loads(line)
        job, digest, result = (entry[key] for key in ("job", "digest", "result"))
        if isinstance(job, str) and isinstance(digest, str | None) and isinstance(result, dict):
            return {"job": job, "digest": digest, "result": result}
    return None


# --- the table -----------------------------------------------------------------------------------

_CELL_WIDTH = 16
_SHORT = 4


@dataclass(frozen=True)
class Grid:
    """A table. The first column names the rows; those in `numbers` stand to the right."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    title: str = ""
    numbers: frozenset[str] = frozenset()

    def markdown(self) -> list[str]:
        """The lines of a Markdown table."""
        rules = ("---:" if name in self.numbers else "---" for name in self.columns)
        lines = [" | ".join(self.columns), "|".join(rules), *map(" | ".join, self.rows)]
        return [f"|{line}|" if place == 1 else f"| {line} |" for place, line in enumerate(lines)]

    def text(self, console: Console) -> str:
        """For a terminal; letters for columns, or a line a cell, if it is too wide for that."""
        if all(len(cell) <= _SHORT for row in self.rows for cell in row[1:]):
            return "\n".join(self._lettered()) + "\n"
        wide = _CELL_WIDTH * len(self.columns) > console.width
        with console.capture() as capture:
            console.print(self._long() if wide else self._wide())
        return capture.get()

    def _wide(self) -> Table:
        table = Table(*self.columns, title=self.title)
        for row in self.rows:
            table.add_row(*row)
        return table

    def _long(self) -> Table:
        table = Table(self.columns[0], "", "", title=self.title)
        for name, *cells in self.rows:
            for place, (column, cell) in enumerate(zip(self.columns[1:], cells, strict=True)):
                last = place == len(cells) - 1
                table.add_row("" if place else name, column, cell, end_section=last)
        return table

    def _lettered(self) -> list[str]:
        letters = [chr(97 + place) for place in range(len(self.columns) - 1)]
        pairs = zip(letters, self.columns[1:], strict=True)
        named = ", ".join(f"{letter} {name}" for letter, name in pairs)
        lines = [f"columns: {named}", "", "  ".join(f"{letter:>{_SHORT}}" for letter in letters)]
        lines[-1] += f"  {self.columns[0]}"
        for name, *cells in self.rows:
            lines.append("  ".join(f"{cell or '.':>{_SHORT}}" for cell in cells) + f"  {name}")
        return lines
