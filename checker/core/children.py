"""Processes that work for this one: deaf to Ctrl-C, which it hears, and gone when it is."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

_PATIENCE = 0.5  # seconds between two looks whether the parent is there


@contextmanager
def deaf_children() -> Iterator[None]:
    """Processes and threads that begin meanwhile never hear of Ctrl-C, from their first moment.

    A terminal sends it to workers too, also while they import what they need.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def begin_child(parent: int) -> None:
    """In a worker, first of all: end when the process `parent` is gone, however that came."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_PATIENCE)
    os._exit(1)
