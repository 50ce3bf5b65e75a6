"""States to begin in that somebody gives: typed into the page, or in a file of `audit`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from model.language.errors import UsageError

FORMAT = "highwater-state"
MOST_DIGITS = 18


@dataclass(frozen=True)
class GivenState:
    """A state as traces write it, and as far as its file says: of what, at which bounds."""

    values: Any
    words: str
    protocol: str | None = None
    bounds: Mapping[str, int] = field(default_factory=dict)


def parsed(text: str | bytes, what: str) -> Any:
    """What JSON stands for; `UsageError` in one line, which begins with `what`, if it is none."""
    try:
        return json.loads(text, parse_int=_integer)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise UsageError(f"{what} is not JSON: {where}: {error.msg}") from None
    except RecursionError:
        raise UsageError(f"{what} is not JSON: it is nested too deeply") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{what} is not JSON: byte {error.start} is not text") from None
    except ValueError as error:
        raise UsageError(f"{what} is not JSON: {error}") from None


def _integer(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ValueError(f"the number {digits[:20]}... is too large")
    return int(digits)


def read_state(path: Path) -> GivenState:
    """The state in a file: one of `audit`, or the bare values as one types them."""
    try:
        found = parsed(path.read_bytes(), str(path))
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from None
    except ValueError as error:  # a name that no file can have
        raise UsageError(f"{str(path)[:60]!r}: {error}") from None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        return GivenState(found, f"the state in {path.name}")
    bounds, protocol = found.get("bounds"), found.get("protocol")
    sizes = bounds.values() if isinstance(bounds, dict) else [None]
    if not isinstance(protocol, str) or "state" not in found or {*map(type, sizes)} - {int}:
        raise UsageError(f"{path} is no state: it has to have protocol, bounds and state")
    assert isinstance(bounds, dict)
    words = f"{found.get('name', 'a partition')} as it was found on disks"
    return GivenState(found["state"], words, protocol, bounds)
