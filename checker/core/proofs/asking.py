"""Asking Z3: it keeps Ctrl-C to itself while it works, and the user wants out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import z3

_INTERRUPTED = "interrupted from keyboard"


class _Question:
    """Whether Z3 is at work, and who has ended that, if someone has."""

    runs = False
    ended_by: Callable[[], NoReturn] | None = None


_question = _Question()


def interrupt(raises: Callable[[], NoReturn]) -> None:
    """End the question that is being asked, if one is: Z3 would end the next one otherwise.

    Whoever asked it gets what `raises` raises, not an answer that Z3 did not find.
    """
    if _question.runs:
        _question.ended_by = raises
        z3.main_ctx().interrupt()


def ask(solver: Any, *assumptions: Any) -> Any:
    """What `solver.check` answers; `KeyboardInterrupt` where Ctrl-C was pressed meanwhile."""
    _question.ended_by, _question.runs = None, True
    try:
        answer = solver.check(*assumptions)
    finally:
        _question.runs = False
    if answer == z3.unknown:
        if _question.ended_by is not None:
            _question.ended_by()
        if solver.reason_unknown() == _INTERRUPTED:
            raise KeyboardInterrupt
    return answer
