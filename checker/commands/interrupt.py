"""Ctrl-C: the first asks a command to stop and report what it knows, the second ends it at once."""

from __future__ import annotations

import _thread
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

from checker.commands.dropped import is_dropped_in

PATIENCE = 5.0
"""Seconds that work has to stop and tell what it knows, once the user has asked for that."""


def raise_interrupt(_number: int, frame: FrameType | None) -> None:
    """As `signal.default_int_handler`; where what is raised would get lost, it is a bit later."""
    if is_dropped_in(frame):
        _thread.start_new_thread(_again, ())
    else:
        raise KeyboardInterrupt


def not_raised(what: sys.UnraisableHookArgs) -> None:
    """As `sys.__unraisablehook__`; but a Ctrl-C that got lost all the same comes again.

    An object that a signal came into the making of lacks what its `__del__` looks for.
    """
    if issubclass(what.exc_type, KeyboardInterrupt):
        _thread.start_new_thread(_again, ())
    elif not (issubclass(what.exc_type, AttributeError) and _is_of_z3(what.object)):
        sys.__unraisablehook__(what)


def _is_of_z3(what: object) -> bool:
    return (getattr(what, "__module__", None) or "").partition(".")[0] == "z3"


def _again() -> None:
    time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGINT)


class Interrupt:
    """While entered, turns the first Ctrl-C into a request to stop, whenever it comes.

    `notice` is called when the user asks, `stops` names what then ends the work; it is called at
    once if the user has asked already. What has not ended after `PATIENCE` is ended as by a second
    Ctrl-C. Does nothing where Ctrl-C is ignored, or outside the main thread.
    """

    def __init__(self, notice: Callable[[], None] | None = None) -> None:
        self.requested = False
        self._over = threading.Event()
        self._notice = notice
        self._stop: Callable[[], None] | None = None
        self._before: Any = None

    def stops(self, stop: Callable[[], None]) -> None:
        """Name what ends the work."""
        self._stop = stop
        if self.requested:
            stop()

    def __enter__(self) -> Interrupt:
        main = threading.current_thread() is threading.main_thread()
        if main and signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            self._before = signal.signal(signal.SIGINT, self._ask)
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _ask(self, *_: object) -> None:
        self.requested = True
        if self._stop is not None:
            self._stop()
        if self._notice is not None:
            self._notice()
        _thread.start_new_thread(self._insist, ())  # no lock is taken, whatever it comes in
        # Last: as long as this is the handler, a capture that it comes in knows whose work it is.
        signal.signal(signal.SIGINT, raise_interrupt)

    def _insist(self) -> None:
        if not self._over.wait(PATIENCE):
            os.kill(os.getpid(), signal.SIGINT)
