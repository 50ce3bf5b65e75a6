"""Text with styles and tables, written in colour by rich, or plain without loading it.

Loading rich takes a twentieth of a small search. What is no terminal gets the same lines without
it, where all is plain ASCII and folds between words; rich writes everything else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

_GAP = 2
_WORD = re.compile(r"\s*\S+\s*")


class Styled:
    """Words in a style of rich's, if any, each perhaps with one of its own."""

    def __init__(self, *parts: str | tuple[str, str], style: str = "") -> None:
        self._style = style
        self._parts = [part if isinstance(part, tuple) else (part, "") for part in parts]

    def append(self, words: str, style: str = "") -> Styled:
        """The same with more words at its end."""
        self._parts.append((words, style))
        return self

    @property
    def plain(self) -> str:
        """The words alone."""
        return "".join(words for words, _ in self._parts)

    def __rich__(self) -> Text:
        from rich.text import Text

        return Text.assemble(*self._parts, style=self._style)


class Grid:
    """A table with titles and no lines; the last `numbers` columns are numbers."""

    def __init__(self, *titles: str, numbers: int = 0) -> None:
        self._titles = titles
        self._left = len(titles) - numbers
        self._rows: list[tuple[str | Styled, ...]] = []

    def add_row(self, *cells: str | Styled) -> None:
        """One more row."""
        self._rows.append(cells)

    def __rich__(self) -> Table:
        table = rich_grid(*self._titles, numbers=len(self._titles) - self._left)
        for row in self._rows:
            table.add_row(*row)
        return table

    def lines(self) -> Iterator[str]:
        """The table as text, as wide as it gets."""
        rows = [self._titles, *([_plain(cell) for cell in row] for row in self._rows)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            cells = (
                cell.ljust(width) if place < self._left else cell.rjust(width)
                for place, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
            yield (" " * _GAP).join(cells)


def rich_grid(*titles: str, numbers: int = 0) -> Table:
    """Such a table of rich's, for cells that nobody wants without it."""
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, _GAP))
    for place, _ in enumerate(titles):
        right = place >= len(titles) - numbers
        table.add_column(justify="right" if right else "left", overflow="fold")
    table.add_row(*(Text(title, style="dim") for title in titles))
    return table


def plain_text(parts: Sequence[Styled | Grid], width: int) -> str | None:
    """The parts below each other without colours; `None` for what only rich can write."""
    lines: list[str] = []
    for part in parts:
        if isinstance(part, Grid):
            of_part = [*part.lines()]
            if any(len(line) > width for line in of_part):
                return None
            lines += of_part
        else:
            for line in part.plain.split("\n"):
                lines += _folded(line, width)
    text = "".join(line.rstrip() + "\n" for line in lines)
    simple = text.isascii() and text.replace("\n", "").isprintable()
    return text if simple and all(len(line) <= width for line in text.splitlines()) else None


def _folded(line: str, width: int) -> Iterator[str]:
    """A line in parts that fit a width, each of whole words; a word may be longer."""
    start = place = 0
    for word in _WORD.finditer(line):
        if word.start() > start and place + len(word[0].rstrip()) > width:
            yield line[start : word.start()]
            start, place = word.start(), 0
        place += len(word[0])
    yield line[start:]


def _plain(cell: str | Styled) -> str:
    return cell if isinstance(cell, str) else cell.plain
