"""Asking Z3: it keeps Ctrl-C to itself while it works, and the user wants out."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NoReturn

import z3

_INTERRUPTED = "interrupted from keyboard"
_running = threading.Event()
_ended_by: Callable[[], NoReturn] | None = None


def interrupt(raises: Callable[[], NoReturn]) -> None:
    """End the question that is being asked, if one is: Z3 would end the next one otherwise.

    Whoever asked it gets what `raises` raises, not an answer that Z3 did not find.
    """
    global _ended_by
    if _running.is_set():
        _ended_by = raises
        z3.main_ctx().interrupt()


def ask(solver: Any, *assumptions: Any) -> Any:
    """What `solver.check` answers; `KeyboardInterrupt` where Ctrl-C was pressed meanwhile."""
    global _ended_by
    _ended_by = None
    _running.set()
    try:
        answer = solver.check(*assumptions)
    finally:
        _running.clear()
    if answer == z3.unknown:
        if _ended_by is not None:
            _ended_by()
        if solver.reason_unknown() == _INTERRUPTED:
            raise KeyboardInterrupt
    return answer
