"""`--max-seconds` and `--max-memory` as ceilings of a whole command, whatever it is doing.

`limited` makes one as the command starts. A search keeps its `limits` by itself and tells what it
found. What comes before it (capture, grounding, machine code), and what has no such place, as a
solver, is ended from here: a thread looks at the clock and at the memory, and the main thread
raises `LimitError` where it is.
"""

from __future__ import annotations

import math
import signal
import sys
import threading
import time
from types import FrameType
from typing import Any, NoReturn

from checker.commands.dropped import codes, is_dropped_in
from checker.core.amounts import duration
from checker.core.search.allowance import Allowance
from checker.core.search.limits import Limits, memory_bytes, memory_words, who_stopped
from model.language.errors import LimitError

_EVERY = 0.1  # seconds between two looks
AGAIN = 5.0
"""Seconds until the work is ended once more, where something has dropped the error."""
GRACE = 2.0
"""Seconds that work which keeps its limits by itself has to end."""


class Ceiling:
    """A limit of seconds, from here on, and of bytes. While entered, it ends what goes beyond.

    `keeps_limits` says that the work does so by itself. Does nothing without limits, or outside the
    main thread.
    """

    def __init__(self, seconds: float | None, memory: int | None = None) -> None:
        self.allowance = Allowance(math.inf if seconds is None else seconds)
        self._memory = memory
        self._grace = self._not_before = 0.0
        self._ready, self._all = 0, 0
        self._over = threading.Event()
        self._reason = ""
        self._before: Any = None
        self._thread: threading.Thread | None = None

    @property
    def left(self) -> float | None:
        """Seconds that are left; none where there is no limit of time."""
        return None if self.allowance.seconds == math.inf else self.allowance.left

    def limits(self, depth: int | None = None, states: int | None = None) -> Limits:
        """The limits of a search of the command."""
        seconds = None if self.left is None else self.allowance.seconds
        return Limits(depth, states, seconds, self._memory, self.allowance)

    def tell(self, what: str) -> None:
        """Say on standard error what is missing from the result, if the time was over."""
        if not self.allowance.left:
            reason = who_stopped(self.allowance.reason)
            print(f"stopped by {reason}: {what}", file=sys.stderr, flush=True)

    def keeps_limits(self) -> None:
        """From now on the work ends by itself; it is only ended from here if it does not."""
        self._grace = GRACE

    def preparing(self, ready: int, of: int) -> None:
        """So many of the actions that are searched are ready."""
        self._ready, self._all = ready, of

    def __enter__(self) -> Ceiling:
        main = threading.current_thread() is threading.main_thread()
        if main and (self.left is not None or self._memory is not None):
            self._before = signal.signal(signal.SIGALRM, self._end)
            self._thread = threading.Thread(target=self._watch, daemon=True)
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join()
            signal.signal(signal.SIGALRM, self._before)

    def _watch(self) -> None:
        since: float | None = None
        while not self._over.wait(_EVERY):
            now = time.perf_counter()
            reason = self._exceeded(now)
            if not reason:
                since = None
                continue
            since = now if since is None else since
            self.allowance.stopped = reason  # of memory too: whoever asks stops
            if now - since >= self._grace:
                self._reason = reason
                asking = sys.modules.get("checker.core.proofs.asking")
                if asking is not None:
                    asking.interrupt(self._raise)
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGALRM)

    def _exceeded(self, now: float) -> str:
        if now - self.allowance.since > self.allowance.seconds:
            return self.allowance.limit
        if self._memory is not None and memory_bytes() > self._memory:
            return f"the limit of {memory_words(self._memory)} of memory"
        return ""

    def _end(self, _: int, frame: FrameType | None) -> None:
        now = time.perf_counter()
        # An error on the way out would leave the thread and the handler behind.
        over = self._over.is_set() or Ceiling.__exit__.__code__ in codes(frame)
        if not over and now >= self._not_before and not is_dropped_in(frame):
            self._raise()

    def _raise(self) -> NoReturn:
        self._not_before = time.perf_counter() + AGAIN
        raise LimitError(
            f"stopped by {self._reason} before there was anything to report{self._estimate}: "
            "choose smaller bounds, or a higher limit",
            self._reason,
        )

    @property
    def _estimate(self) -> str:
        """How long all preparation takes, as far as can be told; empty if it was over."""
        if not 0 < self._ready < self._all:
            return ""
        whole = (time.perf_counter() - self.allowance.since) / self._ready * self._all
        return (
            f" ({self._ready:,} of {self._all:,} actions were ready; all would take about "
            f"{duration(whole)})"
        )
