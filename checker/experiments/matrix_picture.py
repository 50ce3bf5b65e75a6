"""A matrix as a picture: a cell for each row and column, told by a colour and by letters.

Nobody has to tell colours apart, so the letters alone say what a cell says. The picture reads on
light and dark ground; in a page with a switch between them, it follows the page's own text colour.
"""

from __future__ import annotations

from collections.abc import Mapping
from xml.sax.saxutils import escape, quoteattr

from checker.experiments.grid import Result
from checker.experiments.matrix import Cell, Matrix, cells
from checker.verdict import Verdict

WIDTH, HEIGHT = 46, 26
"""Of a cell, in pixels. Scripts that move cells read them off the picture."""

_LETTER, _LINE = 7.2, 20
_SAFE, _BOUNDED, _UNKNOWN = "#a6dcb4", "#d5e8c9", "#d0d4d9"
_FAILS = ("#f2a097", "#f7c08a", "#d7b0e8", "#f2dd7e", "#a8c8f2", "#e8b8c8")
_STYLE = """
.grid-picture text { font: 13px system-ui, sans-serif; fill: var(--bs-body-color, #1f2328); }
@media (prefers-color-scheme: dark) {
  .grid-picture text { fill: var(--bs-body-color, #e6edf3); }
}
.grid-picture .cell text, .grid-picture .key text.in { fill: #1f2328; text-anchor: middle; }
.grid-picture rect { stroke: #57606a; stroke-width: 0.5; }
.grid-picture a:focus rect, .grid-picture a:hover rect { stroke-width: 2.5; }
"""


def as_svg(
    matrix: Matrix, results: Mapping[str, Result],
    links: Mapping[tuple[str, str], str] | None = None,
) -> str:  # fmt: skip
    """The matrix as an SVG picture: lengths in pixels, rows and columns in the matrix's order.

    `links` maps names of row and column to the address that a cell leads to.
    """
    links = links or {}
    colours = _colours(matrix)
    table = list(cells(matrix, results))
    left = round(max((len(row.name) for row in matrix.rows), default=0) * _LETTER) + 14
    longest = max((len(column.name) for column in matrix.columns), default=0) * _LETTER
    top = round(longest * 0.75) + 20  # headings rise at some 45 degrees
    key = _key(table, colours)
    grid_width = left + WIDTH * len(matrix.columns)
    width = grid_width + round(longest * 0.75)
    height = top + HEIGHT * len(matrix.rows) + _LINE * (len(key) + 1)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="grid-picture" role="group" '
        f'aria-label={quoteattr(matrix.title)} viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" data-left="{left}" data-top="{top}" data-cell-width="{WIDTH}" '
        f'data-cell-height="{HEIGHT}">',
        f"<title>{escape(matrix.title)}</title>",
        f"<style>{_STYLE}</style>",
    ]
    for c, column in enumerate(matrix.columns):
        lines.append(
            f'<g class="column" data-name={quoteattr(column.name)} '
            f'transform="translate({left + WIDTH * c},{top})">'
            f'<text transform="translate({WIDTH // 2},-8) rotate(-45)">{escape(column.name)}</text>'
            "</g>"
        )
    for r, row in enumerate(table):
        name = matrix.rows[r].name
        lines.append(
            f'<g class="row" data-name={quoteattr(name)} '
            f'transform="translate(0,{top + HEIGHT * r})"><text x="4" y="18">{escape(name)}</text>'
        )
        for c, cell in enumerate(row):
            link = links.get((cell.row.name, cell.column.name))
            lines.append(_drawn(cell, colours, left + WIDTH * c, link))
        lines.append("</g>")
    lines.append(f'<g class="key" transform="translate(0,{top + HEIGHT * len(table) + _LINE})">')
    for k, (letters, (colour, words)) in enumerate(key.items()):
        lines.append(
            f'<g transform="translate(4,{_LINE * k})"><rect width="{WIDTH - 10}" height="16" '
            f'fill="{colour}"/><text class="in" x="{(WIDTH - 10) // 2}" y="12.5">'
            f'{escape(letters)}</text><text x="{WIDTH}" y="12.5">{escape(words)}</text></g>'
        )
    return "\n".join([*lines, "</g>", "</svg>"]) + "\n"


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


def _key(table: list[list[Cell]], colours: Mapping[str, str]) -> dict[str, tuple[str, str]]:
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
    return {
        short: (colour, plain.get(short, words)) for short, (colour, words) in sorted(found.items())
    }


def _drawn(cell: Cell, colours: Mapping[str, str], x: int, link: str | None) -> str:
    short = letters(cell)
    depth = cell.found.get("depth")
    shown = f"{short} {depth}" if depth is not None and short != "S" else short
    told = f"{cell.row.name}: {cell.column.name}: {cell.words}"
    inside = (
        f"<title>{escape(told)}</title>"
        f'<rect x="1" y="1" width="{WIDTH - 2}" height="{HEIGHT - 2}" '
        f'fill="{_colour(cell, colours)}"/>'
        f'<text x="{WIDTH // 2}" y="17.5">{escape(shown)}</text>'
    )
    if link is not None:
        inside = f"<a href={quoteattr(link)} aria-label={quoteattr(told)}>{inside}</a>"
    return f'<g class="cell" transform="translate({x},0)">{inside}</g>'
