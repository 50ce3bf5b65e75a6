"""What happens between some parties, as lanes: time runs downwards, a row for each step.

Each row has its words beside it, so nothing is told by a mark alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from checker.telling.pictures.svg import SERIES, attribute, document, shortened, text, width_of

_ROW, _LANE, _TOP, _EDGE = 24, 68, 40, 10
_LONGEST = 84
_STYLE = """
.lanes-picture text.name { font-weight: 600; font-size: 12px; text-anchor: middle; }
.lanes-picture text.soft { fill-opacity: 0.75; }
.lanes-picture .lane { stroke: var(--bs-body-color, #57606a); fill: none; stroke-opacity: 0.6; }
.lanes-picture .lane.down { stroke-dasharray: 2 5; stroke-opacity: 0.45; }
.lanes-picture .lane.leads { stroke-width: 6; stroke-opacity: 1; }
.lanes-picture .band { fill: #e3b341; fill-opacity: 0.22; }
.lanes-picture .arrow { stroke: #7a5cc4; stroke-width: 1.6; fill: none; }
.lanes-picture .arrow.slow { stroke-dasharray: 6 3; }
.lanes-picture .head { fill: #7a5cc4; }
.lanes-picture .act { fill: #d55e00; }
.lanes-picture .wait { fill: none; stroke: #d55e00; stroke-width: 1.8; }
.lanes-picture .gone { stroke: #d55e00; stroke-width: 2.4; fill: none; }
@media (prefers-color-scheme: dark) {
  .lanes-picture .lane { stroke: var(--bs-body-color, #a3adb9); }
  .lanes-picture .arrow { stroke: #a78bfa; }
  .lanes-picture .head { fill: #a78bfa; }
}
"""


class Mark(StrEnum):
    """What stands on a lane in a row."""

    ACT = "act"  # something is done
    WAIT = "wait"  # something is waited for
    GONE = "gone"  # whoever it is goes down


class Passing(StrEnum):
    """How an arrow goes from one lane to another."""

    PASSES = "passes"
    STOPPED = "stopped"  # it is held on the way
    SLOW = "slow"


class Standing(StrEnum):
    """How a lane goes on below a row."""

    UP = "up"
    DOWN = "down"
    LEADS = "leads"


@dataclass(frozen=True)
class Row:
    """A step: its words, what it marks by lane, its arrow, and how each lane stands after it.

    `special`: the row has a band behind it.
    """

    words: str
    marks: tuple[tuple[str, Mark], ...] = ()
    arrow: tuple[str, str, Passing] | None = None
    standing: tuple[Standing, ...] = ()
    special: bool = False


@dataclass(frozen=True)
class Lanes:
    """A story to draw. `band` says what rows with a band are; `leading` what a thick lane is."""

    title: str
    description: str
    names: Sequence[str]
    rows: Sequence[Row]
    band: str = ""
    leading: str = "leads"

    def _at(self, name: str) -> int:
        """Where the lane is, in pixels from the left."""
        return _EDGE + _LANE // 2 + _LANE * self.names.index(name)

    def svg(self) -> str:
        """The picture."""
        right = _EDGE + _LANE * len(self.names)
        said = [f"{number}. {row.words}" for number, row in enumerate(self.rows, 1)]
        words = [shortened(each, _LONGEST) for each in said]
        keys = list(self._keys())
        below = _TOP + _ROW * (len(self.rows) + 1)
        width = right + round(width_of([*words, *(key[1] for key in keys)])) + 2 * _EDGE
        height = below + _ROW * len(keys)
        body = [
            f'<text class="name" x="{self._at(name)}" y="20">{text(name)}</text>'
            for name in self.names
        ]
        body += [
            f'<rect class="band" y="{_TOP + _ROW * k}" width="{width}" height="{_ROW}"/>'
            for k, row in enumerate(self.rows)
            if row.special
        ]
        body += self._lines()
        for k, (row, short, full) in enumerate(zip(self.rows, words, said, strict=True)):
            y = _TOP + _ROW * k
            title = f"<title>{text(full)}</title>" if short != full else ""
            body.append(f'<g class="row" data-words={attribute(row.words)}>')
            body += self._drawn(row, y + _ROW // 2)
            body.append(f'<text x="{right}" y="{y + 16}">{title}{text(short)}</text></g>')
        for k, (drawn, meaning) in enumerate(keys):
            y = below + _ROW * k
            body.append(
                f'<g class="key" transform="translate({_EDGE},{y})">{drawn}'
                f'<text class="soft" x="48" y="4">{text(meaning)}</text></g>'
            )
        told = f"{self.description} " + " ".join(f"{each}." for each in said)
        return document(
            self.title, told, body, (width, height), "lanes-picture", style=_STYLE
        )  # fmt: skip

    def _lines(self) -> Iterator[str]:
        """Each lane from top to bottom, in pieces that stand alike."""
        for place, name in enumerate(self.names):
            stood, begin = Standing.UP, _TOP - 8
            for k, row in enumerate(self.rows):
                now = row.standing[place] if row.standing else Standing.UP
                middle = _TOP + _ROW * k + _ROW // 2
                if now is not stood:
                    yield self._line(name, stood, begin, middle, place)
                    stood, begin = now, middle
            yield self._line(name, stood, begin, _TOP + _ROW * len(self.rows), place)

    def _line(self, name: str, standing: Standing, begin: int, end: int, place: int) -> str:
        colour = f' style="stroke:{SERIES[place % len(SERIES)]}"'
        leads = colour if standing is Standing.LEADS else ""
        return (
            f'<path class="lane {standing}" d="M{self._at(name)},{begin}V{end}"{leads}>'
            f"<title>{text(f'{name}: {self._stands(standing)}')}</title></path>"
        )

    def _stands(self, standing: Standing) -> str:
        return self.leading if standing is Standing.LEADS else str(standing)

    def _drawn(self, row: Row, y: int) -> Iterator[str]:
        if row.arrow is not None:
            start, end, passing = row.arrow
            yield _arrow(self._at(start), self._at(end), y, passing)
        for name, mark in row.marks:
            yield _mark(self._at(name), y, mark)

    def _keys(self) -> Iterator[tuple[str, str]]:
        marks = {mark for row in self.rows for _, mark in row.marks}
        ways = {row.arrow[2] for row in self.rows if row.arrow is not None}
        stands = {standing for row in self.rows for standing in row.standing}
        meanings = {
            Mark.ACT: "something is done there", Mark.WAIT: "waited for there",
            Mark.GONE: "it goes down",
        }  # fmt: skip
        yield from ((_mark(20, 0, mark), meanings[mark]) for mark in Mark if mark in marks)
        passes = {
            Passing.PASSES: "from one to the other", Passing.STOPPED: "held on the way",
            Passing.SLOW: "slower from here on",
        }  # fmt: skip
        yield from ((_arrow(0, 40, 0, way), passes[way]) for way in Passing if way in ways)
        if Standing.LEADS in stands:
            yield f'<path class="lane leads" d="M0,0H40" style="stroke:{SERIES[1]}"/>', self.leading
        if Standing.DOWN in stands:
            yield '<path class="lane down" d="M0,0H40"/>', "down, or on the way there"
        if any(row.special for row in self.rows):
            yield '<rect class="band" y="-9" width="40" height="18"/>', self.band


def _arrow(start: int, end: int, y: int, passing: Passing) -> str:
    step = 1 if end > start else -1
    if passing is Passing.STOPPED:
        middle = (start + end) // 2
        bars = f"M{middle},{y - 7}V{y + 7}M{middle + 4 * step},{y - 7}V{y + 7}"
        return f'<path class="arrow" d="M{start},{y}H{middle}{bars}"/>'
    kind = "arrow slow" if passing is Passing.SLOW else "arrow"
    tip = end - 4 * step
    return (
        f'<path class="{kind}" d="M{start},{y}H{tip - 6 * step}"/>'
        f'<path class="head" d="M{tip},{y}L{tip - 8 * step},{y - 4.5}V{y + 4.5}Z"/>'
    )


def _mark(x: int, y: int, mark: Mark) -> str:
    if mark is Mark.GONE:
        lines = f"M{x - 6},{y - 6}L{x + 6},{y + 6}M{x + 6},{y - 6}L{x - 6},{y + 6}"
        return f'<path class="gone" d="{lines}"/>'
    return f'<circle class="{mark}" cx="{x}" cy="{y}" r="5"/>'
