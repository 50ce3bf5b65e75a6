"""What an agent is answered: the command's JSON, and in words which property failed and how.

Either is whole by itself, as some clients give their model the one and some the other.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from checker.commands.agents.calls import Ended
from checker.commands.cli import printable
from checker.core.amounts import counted
from checker.core.exits import Exit

_LAST = 2_000
"""Characters of what a command said on standard error."""


@dataclass(frozen=True)
class Answer:
    """An answer in words and as the command's JSON; `is_error` if the call found out nothing."""

    words: str
    data: dict[str, Any]
    is_error: bool = False


def error(name: str, message: str, status: Exit = Exit.USAGE) -> Answer:
    """The answer to a call that failed, as `--json` has it."""
    line = printable(message)
    return Answer(line, {"command": name, "error": line, "status": int(status)}, True)


def answer(name: str, ended: Ended) -> Answer:
    """What the process of a call of this command answered."""
    text, data = _parts(ended.out)
    if ended.stopped and (data is None or "error" in data):
        return error(
            name,
            f"stopped by {ended.stopped} before there was anything to report: choose smaller "
            "bounds, or a higher limit",
            Exit.LIMIT,
        )
    if data is None:
        return error(name, f"the command ended with {_how(ended)}, and no answer", Exit.INTERNAL)
    if "error" in data:
        return Answer(data["error"], data, True)
    stopped = f"stopped by {ended.stopped}" if ended.stopped else ""
    if stopped and "stopped" in data:
        data["stopped"] = ended.stopped  # the command was told that the user did
    parts = [*failures(data), text.strip(), ended.err.strip()[-_LAST:], stopped]
    return Answer("\n\n".join(part for part in parts if part), data)


def _parts(out: str) -> tuple[str, dict[str, Any] | None]:
    """The text, and the JSON in the last line."""
    text, _, last = out.rstrip("\n").rpartition("\n")
    try:
        data = json.loads(last)
    except ValueError:
        return out, None
    return (text, data) if isinstance(data, dict) else (out, None)


def _how(ended: Ended) -> str:
    if ended.status < 0:
        return f"signal {-ended.status}, as where memory runs out"
    return f"status {ended.status}"


def failures(data: Any) -> Iterator[str]:
    """For each trace in an answer: the property that failed, and the steps."""
    if isinstance(data, dict):
        steps = data.get("steps")
        names = data["properties"] if "properties" in data else [data.get("property")]
        if isinstance(steps, list) and steps and isinstance(names, list):
            yield _failed(", ".join(name or "no step is possible" for name in names), steps)
        for each in data.values():
            yield from failures(each)
    elif isinstance(data, list):
        for each in data:
            yield from failures(each)


def _failed(names: str, steps: list[Any]) -> str:
    lines = [each["step"] if isinstance(each, dict) else each for each in steps]
    numbered = (f"{number}. {line}" for number, line in enumerate(lines, 1))
    return "\n".join([f"failed: {names}, after {counted(len(lines), 'step')}", *numbered])
