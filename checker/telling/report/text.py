"""Traces as text for a terminal: dense, aligned, and never wider than asked."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from checker.core.traces.trace import Trace
from checker.telling.report.lanes import Lane
from checker.telling.report.story import NOT_NEEDED, Change, Moment, Story, tell

EPOCH_STYLES = ("cyan", "magenta", "yellow", "green", "blue", "red")
MIN_WIDTH = 20

_ROLE_STYLES = {"leader": "bold green", "presumed": "bold yellow", "down": "dim"}
_CHANGED = "bold yellow"
_SIGNS = {" +": "bold green", " -": "bold red"}
_NO_LANES: Mapping[str, Lane] = {}
_NUMBER_WIDTH = 3
_GAP = 2
_MIN_WORDS = 30


def render_text(trace: Trace, width: int | None = None, console: Console | None = None) -> str:
    """The trace as text of at most `width` columns, and at least 20; else as wide as `console`.

    Plain and 80 columns wide, unless `console` is given and writes to a terminal: then in its
    colours.
    """
    target = console or Console(
        file=io.StringIO(), color_system=None, force_terminal=False, width=width or 80
    )
    width = max(width or target.width, MIN_WIDTH)
    with target.capture() as capture:
        target.print(_Page(tell(trace), width).everything(), width=width, highlight=False)
    lines = capture.get().splitlines()
    if not target.is_terminal:
        lines = [line.rstrip() for line in lines]
    return "\n".join(lines) + "\n"


class _Page:
    """Lays a story out: columns are as wide everywhere as the widest text that they ever hold."""

    def __init__(self, story: Story, width: int) -> None:
        self.story, self.width = story, width
        facts = [fact.owner for moment in story.moments for fact in moment.facts]
        changes = [change.owner for moment in story.moments for change in moment.changes]
        self.owner = max(map(len, facts + changes), default=0)
        self.columns = self._lane_columns()

    def _lane_columns(self) -> list[int]:
        """The widths of a lane's columns, names under owners if there is room; else none."""
        narrow = list(self.story.lane_widths)
        lanes = [lane for moment in self.story.moments for lane in moment.lanes]
        log = max((len(lane.log) for lane in lanes), default=0)
        for columns in ([max(self.owner, *narrow[:1]), *narrow[1:]] if narrow else [], narrow):
            taken = [w + _GAP for w in (_NUMBER_WIDTH, *columns, log) if w]
            if sum(taken) - _GAP <= self.width:
                return columns
        return []

    def everything(self) -> RenderableType:
        """The whole report."""
        parts: list[RenderableType] = [self._header()]
        for moment in self.story.moments:
            if moment in self.story.circle[:1]:
                parts += [Text(), Text("from here on round and round:", "bold")]
            parts += [Text(), self._moment(moment)]
        last = self.story.moments[-1]
        if self.story.is_last(last):
            parts += [Text(), _titled("", "final state", self._state(last))]
        for number, words in enumerate(self.story.ending):
            parts += [Text(), Text(words, style="" if number else "bold")]
        return Group(*parts)

    def _header(self) -> RenderableType:
        grid = Table.grid(padding=(0, _GAP))
        grid.add_column(style="dim", no_wrap=True)
        grid.add_column(overflow="fold")
        for label, words in self.story.header:
            grid.add_row(label, Text(words))
        if not self.story.legend:
            return grid
        return Group(grid, Text(), *(Text(line, style="dim") for line in self.story.legend))

    def _moment(self, moment: Moment) -> RenderableType:
        if moment.number == 0:
            return _titled("0", moment.words, self._state(moment))
        body: list[RenderableType] = []
        for owner, changes in moment.changes_by_owner.items():
            body.append(self._owned(owner, _changes(changes)))
        if not moment.changes:
            body.append(Text("nothing changes", style="dim"))
        if not self.story.is_last(moment):
            before = self.story.moments[moment.number - 1].lanes
            body += self._lanes(moment.changed_lanes, {lane.name: lane for lane in before})
        if moment.needless:
            return _titled(str(moment.number), f"{moment.words} {NOT_NEEDED}", body, "dim")
        return _titled(str(moment.number), moment.words, body)

    def _state(self, moment: Moment) -> list[RenderableType]:
        facts = [self._owned(fact.owner, Text(fact.words)) for fact in moment.facts]
        return [*facts, *self._lanes(moment.lanes)]

    def _owned(self, owner: str, words: Text) -> RenderableType:
        if self.width < self.owner + _MIN_WORDS:
            return Text("  ").join([Text(owner), words])
        grid = Table.grid(padding=(0, _GAP))
        grid.add_column(min_width=self.owner, overflow="fold")
        grid.add_column(overflow="fold")
        grid.add_row(Text(owner), words)
        return grid

    def _lanes(
        self, lanes: tuple[Lane, ...], before: Mapping[str, Lane] = _NO_LANES
    ) -> list[RenderableType]:
        if not lanes:
            return []
        if not self.columns:
            return [_in_a_row(lane) for lane in lanes]
        grid = Table.grid(padding=(0, _GAP))
        for width in filter(None, self.columns):
            grid.add_column(min_width=width, overflow="fold")
        grid.add_column(overflow="fold")
        for lane in lanes:
            styles = ["bold" if lane.changed else "", _ROLE_STYLES.get(lane.role, "")]
            styles += [""] * len(lane.columns)
            if lane.name in before:
                pairs = zip(lane.columns, before[lane.name].columns, strict=True)
                styles = [
                    _CHANGED if new != old else style
                    for (new, old), style in zip(pairs, styles, strict=False)
                ]
            shown = zip(lane.columns, styles, self.columns, strict=False)
            grid.add_row(*(Text(text, style) for text, style, width in shown if width), _log(lane))
        return [grid]


def _titled(number: str, title: str, body: list[RenderableType], style: str = "bold") -> Table:
    grid = Table.grid(padding=(0, _GAP))
    grid.add_column(justify="right", min_width=_NUMBER_WIDTH, no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(number, Text(title, style=style))
    grid.add_row("", Group(*body))
    return grid


def _in_a_row(lane: Lane) -> Text:
    """A lane that is too wide for columns, to be wrapped between words."""
    return Text("  ").join([*(Text(column) for column in lane.columns if column), _log(lane)])


def _changes(changes: Iterable[Change]) -> Text:
    return Text(", ").join(map(_change, changes))


def _change(change: Change) -> Text:
    """A change in colours: what a log gained and lost, and what a value is now."""
    words, after = change.words(), change.after
    style = _SIGNS.get(change.name[-2:], _CHANGED)
    return Text.assemble(words.removesuffix(after), (after, style))


def _log(lane: Lane) -> Text:
    text = Text()
    for piece in lane.pieces:
        style = "bold" if piece.mark else ""
        if piece.epoch is not None:
            style = EPOCH_STYLES[piece.epoch % len(EPOCH_STYLES)]
        text.append(piece.text, style=style)
    return text
