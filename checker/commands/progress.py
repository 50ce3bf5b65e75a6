"""How far a work is: a live line on a terminal, now and then a plain line elsewhere.

Both go to standard error. What ends quickly shows nothing.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self, TextIO

from checker.commands.interrupt import Interrupt
from checker.core.amounts import duration
from model.language.errors import LimitError

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live
    from rich.status import Status

    from checker.commands.ceiling import Ceiling
    from checker.core.search.allowance import Allowance
    from checker.core.search.limits import Progress
    from checker.lab.experiments.grid import Sweep

LIVE_AFTER, LIVE_EVERY = 0.5, 0.2
PLAIN_AFTER, PLAIN_EVERY = 5.0, 5.0


class Line:
    """A live line on a terminal, at most five times a second; else a plain one now and then."""

    def __init__(self, quiet: bool = False, stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stderr
        self.quiet = quiet
        self.is_terminal = self.stream.isatty()
        self._next = self._first = LIVE_AFTER if self.is_terminal else PLAIN_AFTER
        self._every = LIVE_EVERY if self.is_terminal else PLAIN_EVERY
        self._live: Live | Status | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def show(
        self, seconds: float, plain: Callable[[], str], live: Callable[[], RenderableType]
    ) -> None:
        """Show what the one or the other gives, if after so many seconds it is time to."""
        if self.quiet or seconds < self._next:
            return
        self._next = seconds + self._every
        if not self.is_terminal:
            print(plain(), file=self.stream, flush=True)
            return
        from rich.live import Live

        if not isinstance(self._live, Live):
            self._live = Live(console=self._console, auto_refresh=False, transient=True)
            self._live.start()
        self._live.update(live(), refresh=True)

    def told(self, budget: Allowance, before: str = "") -> Callable[[str], None]:
        """What shows words, with others before them, by the time that a budget has spent."""

        def tell(words: str) -> None:
            self.show(budget.seconds - budget.left, lambda: before + words, lambda: before + words)

        return tell

    @property
    def _console(self) -> Console:
        from rich.console import Console

        return Console(file=self.stream, highlight=False)


class Display(Line):
    """Shows the progress of one search; `update` is cheap, and may be called for every chunk."""

    _stopping = False
    _since = 0.0

    def update(self, progress: Progress) -> None:
        """Show where the search is, if it is time to."""
        self.show(progress.seconds, lambda: words(progress), lambda: self._bar(progress))

    def preparing(self, ready: int, of: int) -> None:
        """Show how many actions are ready to be searched, if it is time to."""
        if ready <= 1:
            self._since = time.monotonic()
        seconds = time.monotonic() - self._since

        def told() -> str:
            left = duration(seconds / ready * (of - ready))
            return f"preparing: {ready:,} of {of:,} actions, about {left} left"

        self.show(seconds, told, told)
        if ready == of:
            self._next = self._first  # the search counts its seconds anew

    def stopping(self) -> None:
        """Say that the search was asked to stop. May be called by a signal handler."""
        self._stopping = True
        if not self.quiet and self._live is None:
            # Not through the stream, which the signal may have interrupted in a write.
            os.write(self.stream.fileno(), b"stopping; press Ctrl-C again to end at once\n")

    def _bar(self, progress: Progress) -> RenderableType:
        from rich.progress_bar import ProgressBar
        from rich.table import Table

        grid = Table.grid(padding=(0, 2))
        for _ in range(4):
            grid.add_column(no_wrap=True)
        note = "stopping" if self._stopping else f"{progress.seconds:.0f} s"
        states = f"{progress.states:,} states"
        rate = f"{_rate(progress):,.0f}/s"
        bar = ProgressBar(total=max(progress.frontier, 1), completed=progress.expanded, width=16)
        grid.add_row(f"depth {progress.depth}", bar, states, f"{rate}  {note}")
        return grid


class Ticker(Line):
    """Says what a long work is at, and for how long; on a terminal something moves meanwhile."""

    def __enter__(self) -> Self:
        self._started = time.monotonic()
        if self.is_terminal and not self.quiet:
            from rich.status import Status

            self._live = Status("working", console=self._console)
            self._live.start()
        return self

    def say(self, words: str) -> None:
        """What is done by now."""
        from rich.status import Status
        from rich.text import Text

        seconds = time.monotonic() - self._started
        if isinstance(self._live, Status):
            line = Text(f"{seconds:.0f} s  {words}", no_wrap=True, overflow="ellipsis")
            self._live.update(line)
        else:
            self.show(seconds, lambda: f"{seconds:.0f} s: {words}", lambda: words)


def run_shown(sweep: Sweep[Any], ceiling: Ceiling, quiet: bool = False) -> bool:
    """Run jobs until Ctrl-C; say how many have ended, how long the rest may take, and the last.

    They end too as the command's time is over. Whether Ctrl-C ended them.
    """
    stored, started = len(sweep.results), time.monotonic()

    def say(name: str) -> None:
        done, missing = len(sweep.results) - stored, len(sweep.jobs) - len(sweep.results)
        left = (time.monotonic() - started) / done * missing
        rest = f", about {duration(left)} left" if missing else ""
        ticker.say(f"{sweep.progress}{rest}: {name}")

    with Interrupt() as interrupt, Ticker(quiet) as ticker:
        interrupt.stops(sweep.stop)
        ceiling.keeps_limits()
        with suppress(LimitError):  # what has ended by then is kept
            sweep.run(lambda name, _: say(name), ceiling.allowance)
    if sweep.store is not None and not sweep.results:
        print(f"nothing is stored in {sweep.store}: no job has ended", file=sys.stderr)
    return interrupt.requested


def words(progress: Progress) -> str:
    """One plain line."""
    share = progress.expanded / max(progress.frontier, 1)
    return (
        f"depth {progress.depth}: {progress.states:,} states, {share:.0%} of the level before "
        f"expanded, {_rate(progress):,.0f} states/s, {progress.seconds:.0f} s"
    )


def _rate(progress: Progress) -> float:
    return progress.states / max(progress.seconds, 1e-9)
