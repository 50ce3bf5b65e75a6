"""Asking Z3: it keeps Ctrl-C to itself while it works, and the user wants out."""

from __future__ import annotations

import threading
from typing import Any

import z3

_INTERRUPTED = "interrupted from keyboard"
_running = threading.Event()


def interrupt() -> None:
    """End the question that is being asked, if one is: Z3 would end the next one otherwise."""
    if _running.is_set():
        z3.main_ctx().interrupt()


def ask(solver: Any, *assumptions: Any) -> Any:
    """What `solver.check` answers; `KeyboardInterrupt` where Ctrl-C was pressed meanwhile."""
    _running.set()
    try:
        answer = solver.check(*assumptions)
    finally:
        _running.clear()
    if answer == z3.unknown and solver.reason_unknown() == _INTERRUPTED:
        raise KeyboardInterrupt
    return answer
