"""Lines of a given width: of text, in which what people copy stays whole, and of Markdown."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable

TRACE_FILES = ".itf.json"
_NARROWEST = 20
_MARKDOWN_WIDTH = 100
_LOOKS_LIKE_MARKUP = re.compile(r" (?=(?:[-+#>=|]|\d+[.)])(?: |$))")
"""Where a line of Markdown must not break, as the next one would begin a list or a heading."""


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


def markdown_lines(words: str, first: str = "") -> list[str]:
    """The words as lines of Markdown, the first after `first`, further ones below its end.

    What would read as markup at the beginning of a line stays on the line before.
    """
    kept = _LOOKS_LIKE_MARKUP.sub("\0", words)
    lines = textwrap.wrap(
        kept, _MARKDOWN_WIDTH, initial_indent=first, subsequent_indent=" " * len(first),
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
    return [line.replace("\0", " ") for line in lines] or [first.rstrip()]
