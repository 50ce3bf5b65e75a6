"""Blocks of lines as text of a given width, in which what people copy stays whole."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

TRACE_FILES = ".itf.json"
_NARROWEST = 20


def paragraphs(blocks: Iterable[Iterable[str]], width: int) -> str:
    """The blocks that have lines, an empty line between two; long lines are folded."""
    folded = ([part for line in block for part in _folded(line, width)] for block in blocks)
    return "\n\n".join("\n".join(lines) for lines in folded if lines) + "\n"


def _folded(line: str, width: int) -> list[str]:
    """The line in lines of the width, further ones a little to the right of where it begins."""
    begin = len(line) - len(line.lstrip())
    if line.lstrip().startswith("https://") or line.endswith(TRACE_FILES):
        return [line]
    return textwrap.wrap(
        line, max(width, _NARROWEST), subsequent_indent=" " * (begin + 4), break_long_words=True,
        break_on_hyphens=False,
    ) or [""]  # fmt: skip
