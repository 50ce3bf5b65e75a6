"""Fairness: which actions a run may not put off for ever, declared with a protocol.

Without fairness, nothing ever has to happen: a run may stop wherever it is. As in TLA+, a step that
changes nothing is no step here: fairness neither asks for it nor is met by it.
See `docs/decisions/0062-liveness.md`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from model.language.action import Action
from model.language.errors import UsageError


class Strength(StrEnum):
    """How insistent an action has to be to be taken at last."""

    WEAK = "weak"  # what stays enabled from some time on is taken again and again
    STRONG = "strong"  # what is enabled again and again is taken again and again


@dataclass(frozen=True)
class Fairness:
    """Some actions are fair: each of their groups, told apart by the values of parameters `by`.

    With `by` none, each instance of an action is a group of its own: each broker's fetch from each
    leader. With some parameters, all steps that agree on them are one group, whichever of the
    actions they are of. With no parameters, all of it is one group: somebody's fetch will do.
    """

    strength: Strength
    actions: tuple[str, ...]
    by: tuple[str, ...] | None = None

    def __str__(self) -> str:
        by = "" if self.by is None else f"({', '.join(self.by)})"
        return f"{' | '.join(self.actions)}{by}={self.strength}"


def weak(*actions: Action | str, by: Sequence[str] | None = None) -> Fairness:
    """What stays enabled is taken at last: `weak(follower_fetch, by=["follower"])`."""
    return Fairness(Strength.WEAK, _names(actions), None if by is None else tuple(by))


def strong(*actions: Action | str, by: Sequence[str] | None = None) -> Fairness:
    """What is enabled again and again is taken at last, though it is disabled in between."""
    return Fairness(Strength.STRONG, _names(actions), None if by is None else tuple(by))


def _names(actions: Iterable[Action | str]) -> tuple[str, ...]:
    return tuple(a.name if isinstance(a, Action) else a for a in actions)


_CHANGE = re.compile(r"\s*(\w+)\s*(?:\(([\w\s,]*)\))?\s*=\s*(\w+)\s*")


def changed(declared: Iterable[Fairness], texts: Iterable[str]) -> tuple[Fairness, ...]:
    """Fairness with changes laid on it, each `ACTION=weak`, `ACTION(parameter)=strong` or `=none`.

    A change is of this action alone, and replaces all that was declared of it; without parameters
    in brackets the groups stay as they were declared. `ACTION()` takes the action as a whole.
    """
    result = list(declared)
    for text in texts:
        match = _CHANGE.fullmatch(text)
        if match is None or match[3] not in (*Strength, "none"):
            raise UsageError(
                f"fairness {text!r}: write ACTION=weak, ACTION=strong or ACTION=none, or "
                "ACTION(PARAMETER)=weak for a group for each value of the parameter"
            )
        name, by, strength = match[1], match[2], match[3]
        before = [one for one in result if name in one.actions]
        result = [
            replace(one, actions=tuple(a for a in one.actions if a != name)) for one in result
        ]
        result = [one for one in result if one.actions]
        if strength != "none":
            groups = before[0].by if before else None
            if by is not None:
                groups = tuple(part.strip() for part in by.split(",") if part.strip())
            result.append(Fairness(Strength(strength), (name,), groups))
    return tuple(result)
