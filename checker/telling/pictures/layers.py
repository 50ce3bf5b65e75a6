"""A directed graph as a picture in rows: what a box rests on is below it.

Boxes that rest on each other are one box. An arrow that others together imply is left out, or
nothing could be seen for arrows; the title of a box says all that it rests on.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

import networkx as nx

from checker.telling.pictures.svg import LETTER, attribute, document, text

_LINE, _PAD, _GAP, _ROW_GAP = 20, 12, 24, 46
_SWEEPS = 12
_WIDE = 1.15  # names have wide letters
_STYLE = """
.layers-picture rect { fill: #0072b2; fill-opacity: 0.08; stroke: #57606a; stroke-width: 0.8; }
.layers-picture text { text-anchor: middle; }
.layers-picture text.marked { font-weight: 600; }
.layers-picture rect.marked { fill: #009e73; fill-opacity: 0.22; }
"""


@dataclass
class _Box:
    """A box, or without names a place where an arrow passes a row. Sizes are in pixels.

    `x` is of its middle, `y` of its upper edge.
    """

    names: tuple[str, ...] = ()
    row: int = 0
    x: float = 0.0
    y: float = 0.0
    height: float = 0.0

    @property
    def width(self) -> float:
        return max(map(len, self.names), default=0) * LETTER * _WIDE + (
            2 * _PAD if self.names else 8
        )


@dataclass
class _Layout:
    """Boxes by row, and the ways of arrows from box to box through the rows between."""

    rows: list[list[int]]
    boxes: dict[int, _Box]
    ways: list[list[int]] = field(default_factory=list)


def as_svg(
    title: str, description: str, graph: nx.DiGraph[str], words: Mapping[str, str],
    marked: Collection[str] = (),
) -> str:  # fmt: skip
    """The picture. `words` are told of a node by a title. Marked nodes are bold.

    A box of marked nodes alone has another colour.
    """
    layout = _layout(graph)
    width, height = _place(layout)
    body = [
        f'<path class="line" d="{_curve([layout.boxes[b] for b in way])}"/>' for way in layout.ways
    ]
    for box in layout.boxes.values():
        if box.names:
            body += _drawn(box, graph, words, marked)
    return document(title, description, body, (width, height), "layers-picture", style=_STYLE)


def _drawn(
    box: _Box, graph: nx.DiGraph[str], words: Mapping[str, str], marked: Collection[str]
) -> list[str]:
    x, y = box.x - box.width / 2, box.y
    kinds = ["marked" if name in marked else "plain" for name in box.names]
    drawn = [
        f'<rect class="{max(kinds)}" x="{x:.0f}" y="{y:.0f}" width="{box.width:.0f}" '
        f'height="{box.height:.0f}" rx="4"/>'
    ]
    for number, (name, kind) in enumerate(zip(box.names, kinds, strict=True)):
        rests = ", ".join(sorted(graph.successors(name))) or "nothing else"
        said = f"{name}: {words[name]}\n" if name in words else f"{name} "
        drawn.append(
            f'<text class="{kind}" x="{box.x:.0f}" y="{y + _LINE * number + 20:.0f}" '
            f"data-name={attribute(name)}>"
            f"<title>{text(said)}rests on {text(rests)}</title>{text(name)}</text>"
        )
    return drawn


def _layout(graph: nx.DiGraph[str]) -> _Layout:
    """Rows by the longest way down, and within a row boxes near what they are joined to."""
    condensed = nx.condensation(graph)
    whole = nx.transitive_reduction(condensed)
    members: dict[int, set[str]] = {
        node: data["members"] for node, data in condensed.nodes(data=True)
    }
    order = {name: place for place, name in enumerate(graph)}
    depth: dict[int, int] = {}
    for node in reversed(list(nx.topological_sort(whole))):
        depth[node] = max((depth[below] + 1 for below in whole.successors(node)), default=0)
    most = max(depth.values(), default=-1)
    layout = _Layout([[] for _ in range(most + 1)], {})
    for node, names in sorted(members.items(), key=lambda m: min(map(order.__getitem__, m[1]))):
        row = most - depth[node]
        layout.boxes[node] = _Box(tuple(sorted(names, key=order.__getitem__)), row)
        layout.rows[row].append(node)
    for above, below in sorted(whole.edges):
        way = [above]
        for row in range(layout.boxes[above].row + 1, layout.boxes[below].row):
            way.append(len(layout.boxes))
            layout.boxes[way[-1]] = _Box((), row)
            layout.rows[row].append(way[-1])
        layout.ways.append([*way, below])
    joined: nx.Graph[int] = nx.Graph()
    joined.add_nodes_from(layout.boxes)
    joined.add_edges_from(pair for way in layout.ways for pair in pairwise(way))
    for sweep in range(_SWEEPS):
        rows = list(range(len(layout.rows)))
        for row in rows if sweep % 2 else reversed(rows):
            near = row - 1 if sweep % 2 else row + 1
            if 0 <= near < len(rows):
                _sort(layout, joined, row, near)
    return layout


def _sort(layout: _Layout, joined: nx.Graph[int], row: int, near: int) -> None:
    """Order a row by the mean place of what each box is joined to in the row `near`."""
    place = {box: k for k, box in enumerate(layout.rows[near])}
    now = {box: k for k, box in enumerate(layout.rows[row])}
    scale = len(place) / max(len(now), 1)

    def mean(box: int) -> float:
        places = [place[other] for other in joined[box] if other in place]
        return sum(places) / len(places) if places else now[box] * scale

    layout.rows[row].sort(key=mean)


def _place(layout: _Layout) -> tuple[int, int]:
    """Give each box its place, rows in the middle; the size of it all."""
    widths = [
        sum(layout.boxes[b].width for b in row) + _GAP * (len(row) - 1) for row in layout.rows
    ]
    width, y = max(widths, default=0.0) + 2 * _GAP, float(_GAP)
    for row, wide in zip(layout.rows, widths, strict=True):
        gap = _GAP + (width - 2 * _GAP - wide) / (len(row) + 1)
        x = (width - wide - (gap - _GAP) * (len(row) - 1)) / 2
        tall = max(len(layout.boxes[b].names) for b in row) * _LINE + _PAD
        for number in row:
            box = layout.boxes[number]
            box.x, box.y = x + box.width / 2, y
            box.height = len(box.names) * _LINE + _PAD if box.names else tall
            x += box.width + gap
        y += tall + _ROW_GAP
    return round(width), round(y - _ROW_GAP + _GAP)


def _curve(way: list[_Box]) -> str:
    """From the lower edge of the first box to the upper edge of the last, straight past boxes."""
    x, y = way[0].x, way[0].y + way[0].height
    drawn = f"M{x:.0f},{y:.0f}"
    for box in way[1:]:
        middle = (y + box.y) / 2
        drawn += f"C{x:.0f},{middle:.0f} {box.x:.0f},{middle:.0f} {box.x:.0f},{box.y:.0f}"
        x, y = box.x, box.y
        if not box.names:
            y += box.height
            drawn += f"V{y:.0f}"
    return drawn
