"""A matrix as text, and as Markdown with a page behind each violation."""

from __future__ import annotations

import re
from pathlib import Path

from rich.table import Table

from checker.experiments.matrix import CellResult, Computation, cells, steps_of
from checker.report.markdown import render_markdown
from checker.traces.trace import build_trace

_CELL_WIDTH = 16


def as_table(computation: Computation, width: int) -> Table:
    """The matrix for a terminal; a line a cell if it is too wide for that."""
    matrix = computation.matrix
    if _CELL_WIDTH * (len(matrix.columns) + 1) > width:
        table = Table("settings", "faults", "", title=matrix.title)
        for row in cells(computation):
            for cell in row:
                name = cell.row.name if cell is row[0] else ""
                table.add_row(name, cell.column.name, cell.words, end_section=cell is row[-1])
        return table
    table = Table("", *(column.name for column in matrix.columns), title=matrix.title)
    for row in cells(computation):
        table.add_row(row[0].row.name, *(cell.words for cell in row))
    return table


def as_markdown(computation: Computation, folder: str = "") -> str:
    """The matrix as a Markdown page; violations link to their pages in `folder`, if it is given."""
    matrix = computation.matrix
    lines = [f"# {matrix.title}", "", matrix.text.strip(), ""]
    lines.append(f"| | {' | '.join(column.name for column in matrix.columns)} |")
    lines.append("|---|" + "---|" * len(matrix.columns))
    for row in cells(computation):
        shown = [_cell(cell, folder) for cell in row]
        lines.append(f"| {row[0].row.name} | {' | '.join(shown)} |")
    states = sum(result["states"] for result in computation.results.values())
    lines += ["", f"{computation.total} searches, {states:,} classes of states.", ""]
    lines += ["| column | faults | property |", "|---|---|---|"]
    for column in matrix.columns:
        chosen = [f"`{name}={value}`" for name, value in column.settings.items()]
        chosen += [f"{name.replace('_', ' ')} {value}" for name, value in column.bounds.items()]
        lines.append(f"| {column.name} | {', '.join(chosen)} | `{column.property}` |")
    lines += ["", "| row | settings |", "|---|---|"]
    for choice in matrix.rows:
        chosen = [f"`--preset {choice.preset}`"] if choice.preset else []
        chosen += [f"`{name}={value}`" for name, value in choice.settings.items()]
        chosen += [f"{name.replace('_', ' ')} {value}" for name, value in choice.bounds.items()]
        lines.append(f"| {choice.name} | {', '.join(chosen)} |")
    return "\n".join(lines) + "\n"


def _cell(cell: CellResult, folder: str) -> str:
    if cell.is_violated and folder:
        return f"[{cell.words}]({folder}/{page_name(cell)})"
    return cell.words


def page_name(cell: CellResult) -> str:
    """The file name of a violation's page."""
    words = f"{cell.row.name} {cell.column.name}".lower()
    return re.sub(r"[^a-z0-9]+", "-", words).strip("-") + ".md"


def write_pages(computation: Computation, folder: Path) -> int:
    """Write a page for each violation, replayed on the reference engine; how many there are."""
    folder.mkdir(parents=True, exist_ok=True)
    wanted = {}
    for row in cells(computation):
        for cell in row:
            if cell.is_violated:
                wanted[page_name(cell)] = _page(cell)
    for stale in set(folder.glob("*.md")) - {folder / name for name in wanted}:
        stale.unlink()
    for name, text in wanted.items():
        (folder / name).write_text(text, encoding="utf-8")
    return len(wanted)


def _page(cell: CellResult) -> str:
    steps = steps_of(cell.search, cell.found)
    trace = build_trace(cell.search.choice.model, steps, cell.column.property)
    head = [
        f"# {cell.row.name}: {cell.column.name}",
        "",
        f"`{cell.column.property}` fails after {trace.depth} steps; no shorter way exists:",
        "",
        f"    explore {cell.search.choice.arguments} --property {cell.column.property}",
        "",
        "",
    ]
    shown = render_markdown(trace).split("\n", 1)[1].strip()
    return "\n".join(head) + shown + "\n"
