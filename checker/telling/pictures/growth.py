"""How many states each level of a search found, on a logarithmic axis, for several searches.

Searches are told apart by the shape of their marks and by dashes, besides their colours, and the
table below the curves has the numbers that matter.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from checker.telling.pictures.svg import SERIES, attribute, document, text, width_of

_WIDE, _HIGH, _LINE, _EDGE = 640, 320, 20, 16
_MARKS = (
    "M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0Z",  # a circle
    "M-3.6,-3.6H3.6V3.6H-3.6Z",  # a square
    "M0,-4.6L4.6,3.6H-4.6Z",  # a triangle
    "M0,-5L5,0L0,5L-5,0Z",  # a diamond
    "M0,4.6L4.6,-3.6H-4.6Z",  # a triangle upside down
    "M-4.5,-1.5H-1.5V-4.5H1.5V-1.5H4.5V1.5H1.5V4.5H-1.5V1.5H-4.5Z",  # a cross
)
_DASHES = ("", "6 3", "2 3", "9 3 2 3")
_STYLE = """
.growth-picture .axis { text-anchor: middle; }
.growth-picture .up { text-anchor: end; }
.growth-picture .curve path { stroke-width: 1.8; fill: none; }
"""


@dataclass(frozen=True)
class Levels:
    """A search: its name, the states of each level that was finished, and why it ended early."""

    name: str
    sizes: Sequence[int]
    stopped: str = ""

    @property
    def words(self) -> str:
        """The search in one sentence, without its name."""
        if not self.sizes:
            return f"no level was finished{f' (stopped by {self.stopped})' if self.stopped else ''}"
        most = max(self.sizes)
        return (
            f"{sum(self.sizes):,} states to depth {len(self.sizes) - 1}, most at depth "
            f"{self.sizes.index(most)} ({most:,})"
            + (f"; stopped by {self.stopped}" if self.stopped else "")
        )


def as_svg(title: str, searches: Sequence[Levels]) -> str:
    """The searches side by side. Levels are counted from the initial state's, which is 0."""
    depth = max([1, *(len(search.sizes) - 1 for search in searches)])
    largest = max([1, *(size for search in searches for size in search.sizes)])
    tens = max(1, math.ceil(math.log10(largest)))
    left = round(width_of([f"{10**tens:,}"])) + 2 * _EDGE
    across = (_WIDE - _EDGE) / depth

    def at(level: int, size: int) -> tuple[float, float]:
        return left + across * level, _EDGE + _HIGH * (1 - math.log10(size) / tens)

    below = _EDGE + _HIGH
    body = list(_axes(left, depth, tens, across))
    for k, search in enumerate(searches):
        body += _curve(search, k, [at(level, size) for level, size in enumerate(search.sizes)])
    names = [f"{search.name}: {search.words}" for search in searches]
    for k, name in enumerate(names):
        y = below + 56 + _LINE * k
        body.append(
            f'<g class="key" transform="translate({left},{y})"><path d="M0,-4H30" '
            f'{_stroke(k)} stroke-width="1.8"/><path transform="translate(15,-4)" '
            f'd="{_MARKS[k % len(_MARKS)]}" fill="{_colour(k)}"/>'
            f'<text x="40">{text(name)}</text></g>'
        )
    width = max(left + _WIDE, left + 40 + round(width_of(names)) + _EDGE)
    height = below + 56 + _LINE * len(searches)
    about = "How many states each level of a search found, on a logarithmic axis. "
    return document(
        title, about + ". ".join(names) + ".", body, (width, height), "growth-picture",
        style=_STYLE,
    )  # fmt: skip


def _axes(left: int, depth: int, tens: int, across: float) -> Iterator[str]:
    below = _EDGE + _HIGH
    for ten in range(tens + 1):
        y = _EDGE + _HIGH * (1 - ten / tens)
        yield f'<path class="line" d="M{left},{y:.1f}H{left + _WIDE - _EDGE}"/>'
        yield f'<text class="up" x="{left - 8}" y="{y + 4:.1f}">{10**ten:,}</text>'
    every = max(1, math.ceil(depth / 16))
    for level in range(0, depth + 1, every):
        x = left + across * level
        yield f'<path class="line" d="M{x:.1f},{below}v5"/>'
        yield f'<text class="axis" x="{x:.1f}" y="{below + 18}">{level}</text>'
    yield f'<text class="axis" x="{left + _WIDE // 2}" y="{below + 36}">steps from the start</text>'


def _curve(search: Levels, k: int, points: Sequence[tuple[float, float]]) -> Iterator[str]:
    yield f'<g class="curve" data-name={attribute(search.name)}>'
    way = "L".join(f"{x:.1f},{y:.1f}" for x, y in points)
    if way:
        yield f'<path d="M{way}" {_stroke(k)}/>'
    for level, ((x, y), size) in enumerate(zip(points, search.sizes, strict=True)):
        words = f"{search.name}: depth {level}: {size:,} state{'' if size == 1 else 's'}"
        yield (
            f'<path transform="translate({x:.1f},{y:.1f})" d="{_MARKS[k % len(_MARKS)]}" '
            f'style="fill:{_colour(k)}"><title>{text(words)}</title></path>'
        )
    yield "</g>"


def _colour(k: int) -> str:
    return SERIES[k % len(SERIES)]


def _stroke(k: int) -> str:
    dashes = _DASHES[k % len(_DASHES)]
    return f'stroke="{_colour(k)}"' + (f' stroke-dasharray="{dashes}"' if dashes else "")
