"""What every picture has: a frame with title and description, colours for both grounds, safe text.

A picture is one SVG element, for a file of its own or for the middle of a page. It has no script,
no font of its own, and needs nothing of another host. In a page with a switch between light and
dark, it follows the page's own text colour, else the choice of the system.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from xml.sax.saxutils import escape, quoteattr

LETTER = 7.2
"""How wide a letter is taken to be, in pixels, at the size of all text: it need not be exact."""

SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a6d00", "#7a5cc4", "#56788c", "#b0413e")
"""Colours that people with any colour vision tell apart, and that show on both grounds."""

_STYLE = """
.{0} text {{ font: 13px system-ui, sans-serif; fill: var(--bs-body-color, #1f2328); }}
.{0} .line {{ stroke: var(--bs-body-color, #1f2328); stroke-opacity: 0.25; fill: none; }}
@media (prefers-color-scheme: dark) {{
  .{0} text {{ fill: var(--bs-body-color, #e6edf3); }}
  .{0} .line {{ stroke: var(--bs-body-color, #e6edf3); }}
}}
"""
_UNWRITABLE = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def text(words: str) -> str:
    """Words as the content of an element. What XML cannot hold becomes a replacement character."""
    return escape(_UNWRITABLE.sub("\ufffd", words))


def attribute(words: str) -> str:
    """Words as the value of an attribute, in quotes."""
    return quoteattr(_UNWRITABLE.sub("\ufffd", words))


def shortened(words: str, most: int) -> str:
    """Words with at most so many letters."""
    return words if len(words) <= most else words[: most - 1].rstrip() + "…"


def width_of(words: Iterable[str]) -> float:
    """The width of the longest of some words, in pixels."""
    return max(map(len, words), default=0) * LETTER


def document(
    title: str, description: str, body: Iterable[str], size: tuple[int, int], kind: str,
    *, style: str = "", role: str = "img", data: Mapping[str, object] | None = None,
) -> str:  # fmt: skip
    """The picture: `size` is its width and height in pixels, `kind` the class that styles go by.

    A picture with links in it has the role `group`: what is in an `img` cannot be reached by keys.
    """
    width, height = size
    extra = "".join(f" data-{name}={attribute(str(value))}" for name, value in (data or {}).items())
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{kind}" role="{role}" '
        f'aria-label={attribute(title)} viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}"{extra}>',
        f"<title>{text(title)}</title>",
        f"<desc>{text(description)}</desc>",
        f"<style>{_STYLE.format(kind)}{style}</style>",
        *body,
        "</svg>",
    ]) + "\n"  # fmt: skip
