"""Exit statuses of every command, as TLC's where it has a number."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """Why a command ended."""

    OK = 0  # nothing was violated
    INTERNAL = 1  # an internal error in Highwater
    USAGE = 2  # the user asked for something that is not valid
    DEADLOCK = 11  # a state enables nothing, where that was asked for
    VIOLATED = 12  # a property is violated
    UNFULFILLED = 13  # a liveness property is violated: a fair run never does what it must
    LIMIT = 20  # a limit stopped the search before the answer
    NOT_INDUCTIVE = 21  # no proof: a property is not inductive
    VACUOUS = 22  # a named property is vacuous, or a mutant survives without a reason
    REJECTED = 23  # a trace or log is not what it claims to be, or what was compared differs
    INTERRUPTED = 130  # Ctrl-C before anything could be reported, as shells say it
