"""Threads beside a search, which help it and compile for it as long as it goes on.

Machine code only does more quickly what a program does too, so nobody ever has to wait for it. When
a search is over, all that was to be done beside it ends here: what has not begun never does, and
what has begun ends by itself, which Python awaits before the process ends. Whoever still asks, such
as who tells a trace, goes on with the program.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

R = TypeVar("R")


class Background:
    """So many threads at most, until `close`. They start when they are given work."""

    def __init__(self, threads: int) -> None:
        self._pool = ThreadPoolExecutor(threads)
        self._closing = threading.Lock()
        self._closed = False

    def begin(self, work: Callable[[], R]) -> Future[R]:
        """Do this beside the search; what comes too late is cancelled, as is what was waiting."""
        with self._closing:
            if not self._closed:
                return self._pool.submit(work)
        late: Future[R] = Future()
        late.cancel()
        return late

    def close(self) -> None:
        """The search is over: begin nothing more, and wait for nothing."""
        with self._closing:
            self._closed = True
            self._pool.shutdown(wait=False, cancel_futures=True)
