"""Fairness: which actions a run may not put off for ever, declared with a protocol.

Without fairness, nothing ever has to happen: a run may stop wherever it is. A *group* is what
fairness asks for as a whole: it is enabled where some step of it is, and taken when any of them is.
As in TLA+, a step that changes nothing is no step here: fairness neither asks for it nor is met by
it. See `docs/decisions/0062-liveness.md`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from model.language.action import Action
from model.language.errors import UsageError, unknown_name
from model.language.naming import member_name

if TYPE_CHECKING:
    from model.language.protocol import Instance, Model


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


@dataclass(frozen=True)
class Group:
    """Steps that fairness takes for one: the numbers of the action instances."""

    strength: Strength
    words: str
    instances: frozenset[int]


def weak(*actions: Action | str, by: Sequence[str] | None = None) -> Fairness:
    """What stays enabled is taken at last: `weak(follower_fetch, by=["follower"])`."""
    return Fairness(Strength.WEAK, _names(actions), None if by is None else tuple(by))


def strong(*actions: Action | str, by: Sequence[str] | None = None) -> Fairness:
    """What is enabled again and again is taken at last, though it is disabled in between."""
    return Fairness(Strength.STRONG, _names(actions), None if by is None else tuple(by))


def _names(actions: Iterable[Action | str]) -> tuple[str, ...]:
    return tuple(a.name if isinstance(a, Action) else a for a in actions)


def groups_of(model: Model, fairness: Iterable[Fairness]) -> tuple[Group, ...]:
    """The groups of the model, in order of declaration, then of instances.

    Raises `UsageError` for an action or a parameter that the protocol does not have.
    """
    found: dict[Group, None] = {}
    for one in fairness:
        members: dict[tuple[str, ...], list[Instance]] = {}
        for name in one.actions:
            _check(model, name, one.by)
        for instance in model.instances:
            if instance.action.name in one.actions:
                members.setdefault(_key(model, instance, one.by), []).append(instance)
        for key, instances in members.items():
            words = key[0] if one.by is None else " | ".join(one.actions)
            shown = key[1:] if one.by is None else key
            words += f"({', '.join(shown)})" if shown else ""
            found[Group(one.strength, words, frozenset(i.number for i in instances))] = None
    return tuple(found)


def _check(model: Model, name: str, by: tuple[str, ...] | None) -> None:
    known = model.protocol.parameters
    if name not in known:
        raise unknown_name(f"action of {model.protocol.name}", name, known)
    parameters = [parameter.name for parameter in known[name]]
    for wanted in by or ():
        if wanted not in parameters:
            raise unknown_name(f"parameter of {name}", wanted, parameters)


def _key(model: Model, instance: Instance, by: tuple[str, ...] | None) -> tuple[str, ...]:
    arguments = {
        p.name: f"{p.name}={_shown(model, p.domain, a)}"
        for p, a in zip(instance.parameters, instance.arguments, strict=True)
    }
    if by is None:
        return (instance.action.name, *arguments.values())
    return tuple(arguments[name] for name in by)


def _shown(model: Model, domain: object, argument: int) -> str:
    family = getattr(domain, "family", None)
    return str(argument) if family is None else member_name(model, family, argument)


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
