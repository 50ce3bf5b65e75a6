"""The errors that this project raises on purpose, so that callers can tell them apart.

HighwaterError
├── UsageError        a name, bound or file that the user gave is not valid (exit status 2)
├── LimitError        a limit of the user's came before the answer (exit status 20)
├── RejectedError     a trace or log is readable but does not hold up (exit status 23)
├── ProtocolError     a protocol is declared wrongly
│   └── CaptureError  an action or property does what cannot be captured
├── DomainError       an action wrote a value outside its variable's domain
└── DisagreementError the captured graph does not do what a function does (exit status 1)
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches


class HighwaterError(Exception):
    """Base of every error that this project raises on purpose."""


class UsageError(HighwaterError):
    """The user asked for something that does not exist or is out of range."""


class LimitError(HighwaterError):
    """A limit that the user set came before there was anything to report (exit status 20).

    `reason` names it, as it goes after "stopped by".
    """

    def __init__(self, message: str, reason: str = "") -> None:
        super().__init__(message)
        self.reason = reason or "a limit"


class RejectedError(HighwaterError):
    """A trace is well formed, yet it is not a run of the protocol that it names."""


class ProtocolError(HighwaterError):
    """A protocol, entity, property or action is declared wrongly."""


class CaptureError(ProtocolError):
    """An action or property does something that cannot be captured as an expression."""


class DomainError(HighwaterError):
    """An action wrote a value that its variable's domain does not contain."""


class DisagreementError(HighwaterError):
    """Two engines differ on what a function means: no answer of either is to be believed."""


_PLACED = re.compile(r"\S+\.py:\d+: ")


def is_placed(problem: str) -> bool:
    """Whether an error's words begin with file and line."""
    return _PLACED.match(problem) is not None


def placed(error: ProtocolError, place: str) -> ProtocolError:
    """The error with file and line before it: `place`, unless it names one or that is empty."""
    return error if not place or is_placed(str(error)) else type(error)(f"{place}: {error}")


_LINE = 400
"""Characters of names that are read in an error: of more, the first are given."""
_NAME = 60


def few_of(names: Iterable[str], all_by: str = "highwater list") -> str:
    """Names in a clause: all of them, or of more than one reads in a line the first.

    `all_by` is the command that names them all.
    """
    found = list(names)
    whole = ", ".join(found)
    if len(whole) <= _LINE:
        return whole
    kept = whole[: _LINE // 2].rpartition(", ")[0]
    return f"{kept}, and {len(found) - kept.count(', ') - 1} more ({all_by})"


def unknown_name(
    kind: str, name: str, valid: Iterable[str], all_by: str = "highwater list", hint: str = ""
) -> UsageError:
    """A `UsageError` that names the valid choices, the closest first if there is a close one.

    `all_by` is the command that names them all, `hint` what is said in place of the closest.
    """
    names = sorted(valid)
    close = [] if hint else get_close_matches(name, names, n=1)
    hint = f"did you mean {close[0]!r}? " if close else hint
    said = name if len(name) <= _NAME else f"{name[:_NAME]}..."
    return UsageError(f"no {kind} is called {said!r}: {hint}valid are {few_of(names, all_by)}")
