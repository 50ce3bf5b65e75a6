"""Writes what a search finds beside it: the blocks of a level, and sorted runs of its numbers.

One thread writes in the order in which states are put, so that a search waits for a disk only where
too much is left to write. What it fails with is raised where the next states are put.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from checker.core.beyond.level_files import Array, LevelFiles
from checker.core.beyond.runs import Run, numbers_of, write_run
from checker.core.engines.layout import Words
from checker.core.search.fresh import Instances


class Writer:
    """Writes levels; a run has `run` numbers at most, and so many batches may be `waiting`."""

    def __init__(self, run: int, waiting: int) -> None:
        self._thread = ThreadPoolExecutor(1)
        self._waiting = threading.BoundedSemaphore(waiting)
        self._error: Exception | None = None
        self._numbers = np.empty(run, np.uint64)
        self._held = 0
        self._runs: list[Run] = []
        self._count = 0
        self._level: LevelFiles | None = None
        self.run_bytes = 0

    def begin(self, level: LevelFiles) -> None:
        """What is put from now on belongs to this level, which is created."""
        self._do(level.create)
        self._level, self._count, self.run_bytes = level, 0, 0

    def put(self, words: Words, parents: Array, instances: Instances) -> None:
        """Write states that seem new, soon."""
        self._raise()
        self._waiting.acquire()
        self._thread.submit(self._write, words, parents, instances)

    def runs(self) -> list[Run]:
        """Write all that was put; the runs since the last time."""
        self._do(self._end)
        runs, self._runs = self._runs, []
        return runs

    def seal(self) -> None:
        """The level is whole."""
        assert self._level is not None
        self._do(self._level.seal)

    def close(self) -> None:
        """Nothing more is written."""
        self._thread.shutdown(cancel_futures=True)

    def _do(self, work: Callable[[], Any]) -> None:
        self._raise()
        self._thread.submit(self._unless_failed, work).result()
        self._raise()

    def _raise(self) -> None:
        if self._error is not None:
            raise self._error

    def _unless_failed(self, work: Callable[[], Any]) -> None:
        try:
            if self._error is None:
                work()
        except Exception as error:
            self._error = error

    def _write(self, words: Words, parents: Array, instances: Instances) -> None:
        self._unless_failed(lambda: self._put(words, parents, instances))
        self._waiting.release()

    def _put(self, words: Words, parents: Array, instances: Instances) -> None:
        assert self._level is not None
        self._level.put(words, parents, instances)
        numbers = numbers_of(words)
        while len(numbers):
            now = numbers[: len(self._numbers) - self._held]
            self._numbers[self._held : self._held + len(now)] = now
            self._held += len(now)
            numbers = numbers[len(now) :]
            if self._held == len(self._numbers):
                self._end_run()

    def _end(self) -> None:
        assert self._level is not None
        self._level.end_block()
        self._end_run()

    def _end_run(self) -> None:
        if not self._held:
            return
        assert self._level is not None
        numbers = self._numbers[: self._held]
        numbers.sort()
        run = write_run(self._level.directory / f"run-{self._count:05d}", numbers)
        self._runs.append(run)
        self._held, self._count = 0, self._count + 1
        self.run_bytes += run.bytes
