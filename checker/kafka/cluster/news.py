"""What threads notice, and the one that waits for it: no step of a schedule sleeps for a while."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")

AGAIN = 0.5  # seconds after which a test is tried although nothing was noticed


class News:
    """Counts changes that any thread makes, and wakes who waits for one."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._changes = 0

    @contextmanager
    def change(self) -> Iterator[None]:
        """Change something that a test may look at, alone."""
        with self._changed:
            yield
            self._changes += 1
            self._changed.notify_all()

    def wait(self, test: Callable[[], T], seconds: float) -> T | None:
        """What `test` returns as soon as that is true; `None` if it never was in so many seconds.

        A change that comes while the test runs is not missed: the test then runs again.
        """
        end = time.monotonic() + seconds
        while True:
            before = self._changes
            if found := test():
                return found
            left = end - time.monotonic()
            if left <= 0:
                return None
            self._rest(before, min(left, AGAIN))

    def _rest(self, before: int, seconds: float) -> None:
        """Until there is a change since `before`, or so many seconds have passed."""
        with self._changed:
            self._changed.wait_for(lambda: self._changes != before, seconds)
