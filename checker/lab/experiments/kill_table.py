"""A kill matrix as a table to be drawn, of a matrix or of the page that was written of one.

Judging every mutant again takes minutes to hours; the pages in counterexamples/mutants hold all
that a picture has.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from checker.core.amounts import counted
from checker.lab.experiments.kill_matrix import KillMatrix, as_markdown
from checker.lab.experiments.mutants import Outcome
from checker.telling.pictures.grid import Picture, Shown
from model.language.errors import UsageError

_TITLE = re.compile(r"# Kill matrix of `(.+)`")
_SURVIVORS = "## What no property notices"
_LOST = "lost"
_FEW, _SOME, _MANY = "#f6d5cf", "#f2a097", "#e0786c"
_OUTCOMES = {
    Outcome.KILLED: "#a6dcb4", Outcome.EQUIVALENT: "#d0d4d9", Outcome.SURVIVED: "#f2dd7e",
    Outcome.UNKNOWN: "#d7b0e8",
}  # fmt: skip


@dataclass(frozen=True)
class Survivor:
    """A mutant that no property notices, what became of it, and what is known of why.

    A page of counts does not tell those that a limit stopped from those that survived.
    """

    mutant: str
    outcome: str
    reason: str


@dataclass(frozen=True)
class KillTable:
    """What a page of a kill matrix says. `rows` are by name, each with its cells by column.

    Rows are actions, with how many of their mutants each column was the first to notice and what
    became of them (`counts`), or mutants, with the depth at which each column noticed. `survivors`
    are all that survive, and of a table of mutants those too that are equivalent.
    """

    protocol: str
    summary: str
    counts: bool
    columns: tuple[str, ...]
    rows: Mapping[str, Mapping[str, str]]
    survivors: tuple[Survivor, ...]

    def survivors_of(self, row: str) -> list[Survivor]:
        """Those of a row of a table of counts: an action, or the settings."""
        return [each for each in self.survivors if each.mutant.startswith(f"{row}: ")]


def table_of(matrix: KillMatrix) -> KillTable:
    """The table of a matrix: what its page says."""
    return read_page(as_markdown(matrix), "the matrix")


def read_table(path: Path) -> KillTable:
    """The table of a page in a file. `UsageError` in one line if it is none."""
    try:
        return read_page(path.read_text(encoding="utf-8"), str(path))
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: no text: {error.reason}") from error


def read_page(page: str, where: str) -> KillTable:
    """The table of a page as `mutate --markdown` writes them."""
    title = _TITLE.match(page)
    noticed, found, alive = page.partition(f"\n{_SURVIVORS}\n")
    tables = list(_tables(noticed))
    if title is None or not found or not tables:
        raise UsageError(
            f"{where} is no page of a kill matrix: `highwater mutate --markdown` writes one"
        )
    counts = tables[0][1][0] == ""
    rows: dict[str, dict[str, str]] = {}
    for subject, head, lines in tables:
        kept = head[1:] if counts else head[1:-1]  # the last one counts states
        for name, *cells in lines:
            full = name if counts else f"{subject}: {name}"
            values = zip(kept, cells, strict=False)
            rows[full] = {column: cell for column, cell in values if cell and cell != "0"}
    survivors = tuple(_by_reason(alive) if counts else _in_table(alive))
    if not counts:
        rows |= {each.mutant: {each.outcome: "1"} for each in survivors}
    columns = list(dict.fromkeys(column for _, head, _ in tables for column in head[1:]))
    if not counts:
        columns.remove("states")
        columns += [o for o in Outcome if any(each.outcome == o for each in survivors)]
    bounds = next(line for line in noticed.splitlines() if line.startswith("Bounds: "))
    tally = next(line for line in noticed.splitlines() if line.endswith(" in all."))
    return KillTable(title[1], f"{tally} {bounds}", counts, tuple(columns), rows, survivors)


def _tables(page: str) -> Iterator[tuple[str, list[str], list[list[str]]]]:
    """The tables of a page: the heading above, the columns, the rows."""
    heading, lines = "", []
    for line in [*page.splitlines(), ""]:
        if line.startswith("## "):
            heading = _plain(line[3:]).lower() if line == "## Settings" else _plain(line[3:])
        elif line.startswith("|"):
            lines.append([_plain(cell) for cell in line[2:-2].split(" | ")])
        elif lines:
            yield heading, lines[0], lines[2:]
            lines = []


def _by_reason(page: str) -> Iterator[Survivor]:
    reason = ""
    for line in page.splitlines():
        if line.startswith("- "):
            yield Survivor(_plain(line[2:]), Outcome.SURVIVED, reason)
        elif line:
            reason = line


def _in_table(page: str) -> Iterator[Survivor]:
    for _, _, lines in _tables(page):
        for mutant, outcome, _, reason, lemmas in lines:
            known = f"{reason} Noticed by lemmas: {lemmas}.".strip() if lemmas else reason
            yield Survivor(mutant, outcome, known)


def _plain(cell: str) -> str:
    return cell.strip().replace("`", "")


# --- as a picture --------------------------------------------------------------------------------


def as_svg(table: KillTable, link: str | None = None) -> str:
    """The table as an SVG picture; empty cells stay empty. What survives leads to `link`."""
    rows = list(table.rows)
    cells: dict[tuple[int, int], Shown] = {}
    for r, name in enumerate(rows):
        for c, column in enumerate(table.columns):
            if column in table.rows[name]:
                shown = table.rows[name][column]
                cells[r, c] = _shown(table, name, column, shown, link)
    title = f"Kill matrix of {table.protocol}"
    what = "an action" if table.counts else "a mutant"
    words = f"A row for {what}, a column for what notices it. {table.summary}"
    return Picture(title, words, rows, table.columns, cells, _key(table), cell_width=38).svg()


def _shown(table: KillTable, row: str, column: str, value: str, link: str | None) -> Shown:
    if column in [*Outcome]:
        return _outcome(table, row, Outcome(column), value, link)
    if table.counts:
        number = int(value)
        words = f"{row}: {column} is the first to notice {counted(number, 'mutant')}"
        return Shown(value, _FEW if number < 3 else _SOME if number < 10 else _MANY, words)
    if value == _LOST:
        return Shown("L", _FEW, f"{row}: {column}: lost")
    return Shown(value, _SOME, f"{row}: {column} notices it at depth {value}")


def _outcome(
    table: KillTable, row: str, outcome: Outcome, value: str, link: str | None
) -> Shown:  # fmt: skip
    colour = _OUTCOMES[outcome]
    is_killed = outcome is Outcome.KILLED
    if not table.counts:
        (survivor,) = (each for each in table.survivors if each.mutant == row)
        reason = survivor.reason or "No reason is recorded."
        return Shown(_letter(outcome), colour, f"{row}: {outcome}. {reason}", link)
    lines = [f"{row}: {counted(int(value), 'mutant')} {outcome}"]
    if outcome in (Outcome.SURVIVED, Outcome.UNKNOWN):
        lines += [f"{each.mutant.partition(': ')[2]}: {each.reason}" for each in
                  table.survivors_of(row)]  # fmt: skip
    is_listed = link is not None and not is_killed and len(lines) > 1
    return Shown(value, colour, "\n".join(lines), link if is_listed else None)


def _letter(outcome: Outcome) -> str:
    return "=" if outcome is Outcome.EQUIVALENT else outcome[0].upper()


def _key(table: KillTable) -> list[tuple[str, str, str]]:
    said = {
        Outcome.KILLED: "something notices it",
        Outcome.EQUIVALENT: "states and steps are the protocol's own within these bounds",
        Outcome.SURVIVED: "nothing notices it; the reason is recorded",
        Outcome.UNKNOWN: "a limit stopped the search before anything was noticed",
    }
    ends = [o for o in Outcome if o in table.columns]
    if not table.counts:
        marks = [(_letter(o), _OUTCOMES[o], f"{o}: {said[o]}") for o in ends]
        depth = ("7", _SOME, "the depth at which the column first notices the mutant")
        lost = ("L", _FEW, "lost: a witness or an action that the mutant never reaches")
        return [depth, lost, *marks]
    first = "mutants that the column is the first to notice"
    shades = [("1", _FEW, f"1 or 2 {first}"), ("3", _SOME, "3 to 9"), ("10", _MANY, "10 or more")]
    return [*shades, *(("1", _OUTCOMES[o], f"mutants {o}: {said[o]}") for o in ends)]
