"""A matrix as one Markdown page: the grid, its rows and columns, each different trace behind it."""

from __future__ import annotations

from collections.abc import Mapping

from checker.core.traces.trace import build_trace
from checker.lab.experiments.choices import Choice, steps_named
from checker.lab.experiments.grid import Grid, Result
from checker.lab.experiments.matrix import Cell, Matrix, cells
from checker.telling.report.story import tell

Told = tuple[str, ...]
"""A trace in words: its steps, then how it ends."""


def as_markdown(matrix: Matrix, results: Mapping[str, Result], *, with_traces: bool = False) -> str:
    """The matrix as a Markdown page.

    With traces it says what rows and columns stand for, and violations link to theirs, replayed.
    """
    told: dict[Told, list[Cell]] = {}
    rows = []
    for row in cells(matrix, results):
        rows.append([row[0].row.name])
        for cell in row:
            words = cell.words
            if with_traces and cell.is_violated:
                trace = _told(cell)
                told.setdefault(trace, []).append(cell)
                words = f"[{words}](#trace-{[*told].index(trace) + 1})"
            rows[-1].append(words)
    grid = Grid(["", *(column.name for column in matrix.columns)], rows)
    states = sum(result["states"] for result in results.values())
    opening, _, words = matrix.text.strip().partition("\n\n")
    lines = [f"# {matrix.title}", "", opening, "", *grid.markdown(), ""]
    if matrix.finer is not None:
        lines += [f"({matrix.finer.mark}): {matrix.finer.about}.", ""]
    lines += [f"{len(results)} searches, {states:,} classes of states.", ""]
    if words:
        lines += [words, ""]
    if with_traces:
        lines += _key(matrix)
    if told:
        lines += [
            "",
            "## Traces",
            "",
            "Steps of a shortest way; `explore` shows every state on it.",
        ]
    for number, (trace, same) in enumerate(told.items(), 1):
        lines += ["", *_section(number, trace, same)]
    return "\n".join(lines).rstrip() + "\n"


def _key(matrix: Matrix) -> list[str]:
    """What rows and columns stand for."""
    faults = [
        [column.name, Choice("", "", column.settings, column.bounds).words,
         ", ".join(f"`{name}`" for name in column.properties)]
        for column in matrix.columns
    ]  # fmt: skip
    settings = [[row.name, row.choice.words] for row in matrix.rows]
    tables = Grid(["column", "faults", "property"], faults), Grid(["row", "settings"], settings)
    return [*tables[0].markdown(), "", *tables[1].markdown()]


def _told(cell: Cell) -> Told:
    """The trace behind a violation, replayed on the reference engine."""
    model = cell.search.choice.model
    violated = cell.found["property"]
    story = tell(build_trace(model, steps_named(model, cell.found["steps"]), violated))
    return (*(moment.words for moment in story.moments[1:]), " ".join(story.ending[-1:]))


def _section(number: int, trace: Told, cells: list[Cell]) -> list[str]:
    *steps, ending = trace
    shown = "; ".join(f"{cell.row.name}: {cell.column.name}" for cell in cells)
    lines = [f"### Trace {number}", "", f"*{shown}*", ""]
    lines += [f"{place}. {words}" for place, words in enumerate(steps, 1)]
    first = cells[0]
    command = f"explore {first.search.choice.arguments} --property {first.found['property']}"
    return [*lines, "", ending, "", f"    {command}"]
