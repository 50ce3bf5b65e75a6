"""Asking Z3: it keeps Ctrl-C to itself while it works, and the user wants out."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NoReturn

import z3

_INTERRUPTED = "interrupted from keyboard"


class _Question:
    """Whether Z3 is at work, and who has ended that, if someone has."""

    runs = False
    lock = threading.RLock()  # a signal's handler may end the question of its own thread
    ended_by: Callable[[], NoReturn] | None = None


_question = _Question()


def interrupt(raises: Callable[[], NoReturn]) -> None:
    """End the question that is being asked, if one is: Z3 would end the next one otherwise.

    Whoever asked it gets what `raises` raises, and no answer: Z3 may say `sat` and have no model.
    """
    with _question.lock:
        if _question.runs:
            _question.ended_by = raises
            z3.main_ctx().interrupt()


def ask(solver: Any, *assumptions: Any) -> Any:
    """What `solver.check` answers; `KeyboardInterrupt` where Ctrl-C was pressed meanwhile."""
    _question.ended_by, _question.runs = None, True
    try:
        answer = solver.check(*assumptions)
    finally:
        with _question.lock:
            _question.runs = False
    if _question.ended_by is not None:
        _question.ended_by()
    if answer == z3.unknown and solver.reason_unknown() == _INTERRUPTED:
        raise KeyboardInterrupt
    return answer
