"""A matrix as a picture: what a cell says, as a colour and as letters."""

from __future__ import annotations

from collections.abc import Mapping

from checker.core.verdict import Verdict
from checker.lab.experiments.grid import Result
from checker.lab.experiments.matrix import Cell, Matrix, cells
from checker.telling.pictures.grid import Picture, Shown

_SAFE, _BOUNDED, _UNKNOWN = "#a6dcb4", "#d5e8c9", "#d0d4d9"
_FAILS = ("#f2a097", "#f7c08a", "#d7b0e8", "#f2dd7e", "#a8c8f2", "#e8b8c8")


def as_svg(
    matrix: Matrix, results: Mapping[str, Result],
    links: Mapping[tuple[str, str], str] | None = None,
) -> str:  # fmt: skip
    """The matrix as an SVG picture, with its rows and columns in order.

    `links` maps names of row and column to the address that a cell leads to.
    """
    links = links or {}
    colours = _colours(matrix)
    table = list(cells(matrix, results))
    shown = {
        (r, c): _shown(cell, colours, links.get((cell.row.name, cell.column.name)))
        for r, row in enumerate(table)
        for c, cell in enumerate(row)
    }
    rows, columns = ([each.name for each in some] for some in (matrix.rows, matrix.columns))
    words = "A row for each choice of settings, a column for each question, an answer in each cell."
    return Picture(matrix.title, words, rows, columns, shown, _key(table, colours)).svg()


def letters(cell: Cell) -> str:
    """What a cell says in short: S safe, s safe to a depth, ? unknown; else the initials of how
    it fails."""
    if cell.result is None:
        return "?"
    verdict = cell.found["verdict"]
    if verdict == Verdict.VIOLATED:
        return "".join(word[0] for word in cell.column.fails.split() if word != "and").upper()
    return "S" if verdict == Verdict.EXHAUSTED else "s"


def _colours(matrix: Matrix) -> dict[str, str]:
    """A colour for each word of failing."""
    words = dict.fromkeys(column.fails for column in matrix.columns)
    return {word: _FAILS[k % len(_FAILS)] for k, word in enumerate(words)}


def _colour(cell: Cell, colours: Mapping[str, str]) -> str:
    plain = {"S": _SAFE, "s": _BOUNDED, "?": _UNKNOWN}
    return plain.get(letters(cell)) or colours[cell.column.fails]


def _key(table: list[list[Cell]], colours: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """Letters, with their colour and what they stand for, as far as the picture has them."""
    plain = {
        "S": "safe: every reachable state within the bounds was explored",
        "s": "safe up to a depth",
        "?": "not computed",
    }
    every = [cell for row in table for cell in row]
    found = {
        letters(cell): (_colour(cell, colours), cell.column.fails + ", and after how many steps")
        for cell in every
    }
    return [
        (short, colour, plain.get(short, words)) for short, (colour, words) in sorted(found.items())
    ]


def _shown(cell: Cell, colours: Mapping[str, str], link: str | None) -> Shown:
    short = letters(cell)
    depth = cell.found.get("depth")
    shown = f"{short} {depth}" if depth is not None and short != "S" else short
    told = f"{cell.row.name}: {cell.column.name}: {cell.words}"
    return Shown(shown, _colour(cell, colours), told, link)
