"""A grid as a picture: rows, columns, and cells that are told by a colour and by letters.

Nobody has to tell colours apart: the letters alone say what a cell says. In a page, a script may
show some of the rows and columns only; it reads the sizes that it needs off the picture.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from checker.telling.pictures.svg import attribute, document, shortened, text, width_of

HEIGHT = 26
"""Of a cell, in pixels."""

_LINE = 20
_LONGEST = 60  # letters of a row's name; the rest is in its title
_STYLE = """
.grid-picture .cell text, .grid-picture .key text.in { fill: #1f2328; text-anchor: middle; }
.grid-picture rect { stroke: #57606a; stroke-width: 0.5; }
.grid-picture a:focus rect, .grid-picture a:hover rect { stroke-width: 2.5; }
"""


@dataclass(frozen=True)
class Shown:
    """What a cell shows: letters on a colour; what it says in words; where it leads, if it does."""

    letters: str
    colour: str
    words: str
    link: str | None = None


@dataclass(frozen=True)
class Picture:
    """A grid to draw. `cells` are by row and column, by number; where there is none it is empty.

    `key` says what letters stand for: letters, colour, words.
    """

    title: str
    description: str
    rows: Sequence[str]
    columns: Sequence[str]
    cells: Mapping[tuple[int, int], Shown]
    key: Sequence[tuple[str, str, str]]
    cell_width: int = 46

    def svg(self) -> str:
        """The picture; rows and columns in the order that is given."""
        wide = self.cell_width
        names = [shortened(name, _LONGEST) for name in self.rows]
        left = round(width_of(names)) + 14
        longest = width_of(self.columns)
        top = round(longest * 0.75) + 20  # headings rise at some 45 degrees
        right = left + wide * len(self.columns)
        below = top + HEIGHT * len(self.rows)
        width = max(right + round(longest * 0.75), round(wide + width_of(k[2] for k in self.key)))
        height = below + _LINE * (len(self.key) + 1)
        body = [
            f'<g class="column" data-name={attribute(column)} '
            f'transform="translate({left + wide * c},{top})">'
            f'<text transform="translate({wide // 2},-8) rotate(-45)">{text(column)}</text></g>'
            for c, column in enumerate(self.columns)
        ]
        for r, (name, short) in enumerate(zip(self.rows, names, strict=True)):
            full = f"<title>{text(name)}</title>" if short != name else ""
            body.append(
                f'<g class="row" data-name={attribute(name)} '
                f'transform="translate(0,{top + HEIGHT * r})">'
                f'<path class="line" d="M0,{HEIGHT}H{right}" stroke-width="0.5"/>'
                f'<text x="4" y="18">{full}{text(short)}</text>'
            )
            for c in range(len(self.columns)):
                if (r, c) in self.cells:
                    body.append(self._drawn(self.cells[r, c], c, left + wide * c))
            body.append("</g>")
        body.append(f'<g class="key" transform="translate(0,{below + _LINE})">')
        body += [
            f'<g transform="translate(4,{_LINE * k})"><rect width="{wide - 10}" height="16" '
            f'fill="{colour}"/><text class="in" x="{(wide - 10) // 2}" y="12.5">'
            f'{text(letters)}</text><text x="{wide}" y="12.5">{text(words)}</text></g>'
            for k, (letters, colour, words) in enumerate(self.key)
        ]
        sizes = {"left": left, "top": top, "cell-width": wide, "cell-height": HEIGHT}
        return document(
            self.title, self.description, [*body, "</g>"], (width, height), "grid-picture",
            style=_STYLE, role="group", data=sizes,
        )  # fmt: skip

    def _drawn(self, cell: Shown, column: int, x: int) -> str:
        wide = self.cell_width
        inside = (
            f"<title>{text(cell.words)}</title>"
            f'<rect x="1" y="1" width="{wide - 2}" height="{HEIGHT - 2}" fill="{cell.colour}"/>'
            f'<text x="{wide // 2}" y="17.5">{text(cell.letters)}</text>'
        )
        if cell.link is not None:
            link, words = attribute(cell.link), attribute(cell.words)
            inside = f"<a href={link} aria-label={words}>{inside}</a>"
        return f'<g class="cell" data-column="{column}" transform="translate({x},0)">{inside}</g>'
