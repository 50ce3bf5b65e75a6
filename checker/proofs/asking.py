"""Asking Z3: it keeps Ctrl-C to itself while it works, and the user wants out."""

from __future__ import annotations

from typing import Any

import z3

_INTERRUPTED = "interrupted from keyboard"


def ask(solver: Any, *assumptions: Any) -> Any:
    """What `solver.check` answers; `KeyboardInterrupt` where Ctrl-C was pressed meanwhile."""
    answer = solver.check(*assumptions)
    if answer == z3.unknown and solver.reason_unknown() == _INTERRUPTED:
        raise KeyboardInterrupt
    return answer
