"""How far a search is: a live line on a terminal, now and then a plain line elsewhere.

Both go to standard error. A search that ends quickly shows nothing.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live

    from checker.experiments.grid import Sweep
    from checker.search.explore import Progress

LIVE_AFTER, LIVE_EVERY = 0.5, 0.2
PLAIN_AFTER, PLAIN_EVERY = 5.0, 5.0


class Display:
    """Shows the progress of one search; `update` is cheap, and may be called for every chunk."""

    def __init__(self, quiet: bool = False, stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stderr
        self.quiet = quiet
        self.is_terminal = self.stream.isatty()
        self._next = LIVE_AFTER if self.is_terminal else PLAIN_AFTER
        self._every = LIVE_EVERY if self.is_terminal else PLAIN_EVERY
        self._live: Live | None = None
        self._stopping = False

    def __enter__(self) -> Display:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def update(self, progress: Progress) -> None:
        """Show where the search is, if it is time to."""
        if self.quiet or progress.seconds < self._next:
            return
        self._next = progress.seconds + self._every
        if self.is_terminal:
            self._show_live(progress)
        else:
            print(words(progress), file=self.stream, flush=True)

    def stopping(self) -> None:
        """Say that the search was asked to stop. May be called by a signal handler."""
        self._stopping = True
        if not self.quiet and self._live is None:
            # Not through the stream, which the signal may have interrupted in a write.
            os.write(self.stream.fileno(), b"stopping; press Ctrl-C again to end at once\n")

    def _show_live(self, progress: Progress) -> None:
        if self._live is None:
            from rich.console import Console
            from rich.live import Live

            console = Console(file=self.stream, highlight=False)
            self._live = Live(console=console, auto_refresh=False, transient=True)
            self._live.start()
        self._live.update(self._line(progress), refresh=True)

    def _line(self, progress: Progress) -> RenderableType:
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


class Jobs:
    """Shows how many of several jobs have ended, and which was the last."""

    def __init__(
        self, sweep: Sweep[Any], quiet: bool = False, stream: TextIO | None = None
    ) -> None:
        self.stream = stream or sys.stderr
        self.quiet = quiet
        self._sweep = sweep
        self._live = self.stream.isatty()
        self._next = 0.0

    def __enter__(self) -> Jobs:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._live and self._next:
            print("\r\x1b[K", end="", file=self.stream, flush=True)

    def done(self, name: str, _result: object) -> None:
        """Say how many jobs have ended, and which was the last."""
        now = time.monotonic()
        if self.quiet or now < self._next:
            return
        self._next = now + (LIVE_EVERY if self._live else PLAIN_EVERY)
        line = f"{len(self._sweep.results)} of {len(self._sweep.jobs)}: {name}"
        if self._live:
            print(f"\r\x1b[K{line:.79}", end="", file=self.stream, flush=True)
        else:
            print(line, file=self.stream, flush=True)


@contextmanager
def ticker(quiet: bool = False, stream: TextIO | None = None) -> Iterator[Callable[[str], None]]:
    """Says what a proof is at: on a terminal a line that changes, elsewhere a line now and then."""
    stream = stream or sys.stderr
    started, last = time.monotonic(), PLAIN_AFTER - PLAIN_EVERY

    def say(words: str) -> None:
        nonlocal last
        seconds = time.monotonic() - started
        if not quiet and seconds >= last + PLAIN_EVERY:
            last = seconds
            print(f"{seconds:.0f} s: {words}", file=stream, flush=True)

    if quiet or not stream.isatty():
        yield say
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.status import Status

    with Status("proving", console=Console(file=stream, highlight=False)) as status:
        yield lambda words: status.update(f"{time.monotonic() - started:.0f} s  {escape(words)}")


def words(progress: Progress) -> str:
    """One plain line."""
    share = progress.expanded / max(progress.frontier, 1)
    return (
        f"depth {progress.depth}: {progress.states:,} states, {share:.0%} of the level before "
        f"expanded, {_rate(progress):,.0f} states/s, {progress.seconds:.0f} s"
    )


def _rate(progress: Progress) -> float:
    return progress.states / max(progress.seconds, 1e-9)
